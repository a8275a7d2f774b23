"""How well a pair plays, and what its games cost to teach."""

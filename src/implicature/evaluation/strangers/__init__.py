"""Partners that a pair has never met, and how well it does with each."""

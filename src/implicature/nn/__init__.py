"""Networks that know nothing of games."""

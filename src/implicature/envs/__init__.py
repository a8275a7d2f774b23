"""The game as an environment."""

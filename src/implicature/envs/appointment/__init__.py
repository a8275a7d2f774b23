"""The appointment game as an environment."""

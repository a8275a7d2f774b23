"""Players: exact ones, which need no learning, and learned ones."""

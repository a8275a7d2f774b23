"""A run: its folder, the loop that trains it, checkpoints, metrics, and what it needs to open again."""

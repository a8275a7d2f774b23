"""What `train` shows: its progress, the summary of a trained pair, and its pictures."""

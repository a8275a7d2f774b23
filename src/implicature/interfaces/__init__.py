"""The command line and what else people touch."""

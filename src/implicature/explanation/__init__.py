"""The exact recursion told to a person."""

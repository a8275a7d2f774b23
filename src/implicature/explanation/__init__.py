"""The exact recursion in one game, explained in tables and in words."""

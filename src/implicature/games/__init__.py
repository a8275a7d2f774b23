"""The referential game."""

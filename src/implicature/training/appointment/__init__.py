"""Training of players of the appointment game: Algorithm 1 in turns, and a baseline without theory of mind."""

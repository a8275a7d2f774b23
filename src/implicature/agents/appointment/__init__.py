"""Players of the appointment game, each teacher and student at once."""

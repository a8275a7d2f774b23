"""People's answers in reference games, and how well a player predicts them."""

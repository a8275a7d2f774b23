"""`implicature play`: a page on which people play with the agents and see what they believe."""

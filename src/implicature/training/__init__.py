"""Algorithm 1 and what comes before it."""

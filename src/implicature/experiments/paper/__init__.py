"""The paper's tables and figures, and the trained pairs that they show."""

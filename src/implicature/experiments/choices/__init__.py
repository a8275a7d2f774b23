"""What each choice is worth: the ladder, ablations, feedback, the baselines' search, time and robustness."""

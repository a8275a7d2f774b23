"""Beyond the paper: several rounds, own words, people, teaching, strangers, large vocabularies."""

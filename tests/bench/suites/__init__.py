"""The suites: the contests of each and what they must reach."""

"""The suites: contests, their cases for this library and its peers, and what must be reached."""

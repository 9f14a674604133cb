"""The harness: processes, rounds, checks of the results, goals and reports."""

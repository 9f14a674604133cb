"""Benchmarks against peers: commands, not tests. `python tests/bench --help`; see README.md."""

"""Helpers that know nothing of the service: validation, waiting, the system, optional imports."""

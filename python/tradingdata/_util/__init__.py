"""Helpers that know nothing of the service: validation, optional imports, files, time zones."""

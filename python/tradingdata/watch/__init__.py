"""Polling: order and trade updates computed from successive responses."""

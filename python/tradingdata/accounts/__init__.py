"""The books of many accounts, fetched side by side and labelled."""

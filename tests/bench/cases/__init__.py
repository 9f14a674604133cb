"""The cases: the same work done with this library and with each of its peers."""

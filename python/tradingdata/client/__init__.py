"""The clients, synchronous and asynchronous, and what their calls are made of."""

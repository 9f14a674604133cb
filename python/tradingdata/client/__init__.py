"""The synchronous and the asynchronous client: options, tokens, paging and logging."""

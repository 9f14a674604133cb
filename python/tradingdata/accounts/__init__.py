"""Books of many accounts, fetched concurrently and labelled by account."""

"""`tradingdata profiles`: one sub-command a file; `group` makes them a group."""

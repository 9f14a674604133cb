"""`tradingdata archive`: one sub-command per module; `group` lists them."""

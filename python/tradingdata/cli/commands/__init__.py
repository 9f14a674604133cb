"""The commands, one per module; `app` lists them."""

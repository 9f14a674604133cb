"""The commands, one a file; `app` lists them."""

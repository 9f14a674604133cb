"""Books as data frames, Arrow tables and files."""

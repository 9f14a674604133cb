"""Tables: rows in columns, which filter, sort, export and display; everything is one."""

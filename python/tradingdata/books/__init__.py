"""Books and their records: sequences over columns, with filters, comparisons and checks."""

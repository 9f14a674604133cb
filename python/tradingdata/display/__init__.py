"""How books and results are shown: as text and as HTML."""

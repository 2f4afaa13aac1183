"""References that observe every attribute of every row."""

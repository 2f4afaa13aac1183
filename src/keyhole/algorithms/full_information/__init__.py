"""Full-information references, which observe every attribute of every row."""

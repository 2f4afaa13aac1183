"""The studies: each consists of a grid (TOML) and a function `judge` (Python)."""

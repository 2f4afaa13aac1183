"""The experiments: a grid (TOML) and a judge (Python) each."""

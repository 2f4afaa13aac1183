"""Simple baselines."""

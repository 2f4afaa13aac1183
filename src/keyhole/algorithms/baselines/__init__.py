"""Simple learners to compare with."""

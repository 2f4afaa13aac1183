"""Algorithms of the literature that the paper stands beside."""

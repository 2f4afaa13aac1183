"""Helpers that know nothing of learners: typing, text, files, data frames."""

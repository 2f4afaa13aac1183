"""Helpers that do not depend on learners: typing, text, files, data frames."""

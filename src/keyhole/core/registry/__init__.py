"""The registry of algorithms and their options, and the construction of learners by name."""

"""Which algorithms exist, their options, and how one is made by name."""

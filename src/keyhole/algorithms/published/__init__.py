"""Published algorithms with which the paper compares."""

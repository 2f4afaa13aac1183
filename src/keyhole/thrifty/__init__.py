"""The parts of the learner `thrifty`: arrays and compiled functions over them; docs/thrifty.md has the maths."""

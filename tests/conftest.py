"""What holds for every test."""

from hypothesis import settings

# A deadline measures the machine, or the first compilation of a kernel, never what is tested.
settings.register_profile("keyhole", deadline=None)
settings.load_profile("keyhole")

"""`python -m keyhole.cli` is the command `keyhole`."""

from . import main

main()

"""The algorithms, one file each, written to read like their pseudo-code. Build them with `keyhole.make`."""

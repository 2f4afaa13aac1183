"""One file per algorithm; each reads like its pseudo-code. Build them with `keyhole.make`."""

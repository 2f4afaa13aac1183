"""How kernels are compiled at run time. Goes away with the compiled core."""

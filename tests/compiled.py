"""A compiled entry of a test's own, to call an `inner` function by: numba by itself does not link what that reaches."""

import numba

from keyhole._internal.numba._compiler import Compiler

entry = numba.njit(pipeline_class=Compiler, error_model="numpy", _nrt=True)

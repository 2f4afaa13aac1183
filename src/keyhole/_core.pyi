"""Types of the compiled core (cpp/). Arrays are C-contiguous and written in place unless they are called const here."""

import numpy as np
from numpy.typing import NDArray

SANITIZED: bool
"""Whether the core was built by `make sanitize`."""

# newton

def newton_epoch(
    w: NDArray[np.float64],
    A_inv: NDArray[np.float64],
    tally: NDArray[np.float64],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    rho: float,
    y_hat: NDArray[np.float64],
) -> None: ...
def gradient_epoch(
    w: NDArray[np.float64],
    sum_squares: NDArray[np.float64],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    y_hat: NDArray[np.float64],
) -> None: ...

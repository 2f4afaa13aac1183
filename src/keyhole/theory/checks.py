"""What may be asked of the constants; each check raises a `ConfigError` that states the legal range."""

import math

from ..errors import ConfigError

__all__ = ["check_T", "check_arguments", "check_s", "check_w_min"]


def check_arguments(d: int, k: int, sigma: float, delta_s: float, delta: float, k0: int | None) -> None:
    """3 <= k <= d - 3, k0 >= 3 or None, sigma >= 0, delta_s > 0 and delta in (0, 1), all finite."""
    for name, value in (("d", d), ("k", k), ("k0", k0)):
        if value is not None and not float(value).is_integer():
            raise ConfigError(f"{name} must be a whole number, not {value}")
    if d < 6:
        raise ConfigError(f"the paper's constants need d >= 6 (so that 3 <= k <= d - 3), not d = {d}")
    if not 3 <= k <= d - 3:
        raise ConfigError(f"k must lie in 3..{d - 3} (3..d-3) and is {k}; outside that range use `support-bandit`")
    if k0 is not None and k0 < 3:
        raise ConfigError(f"k0 must be at least 3 (or None: nothing is seen after the label), not {k0}")
    if not 0 <= sigma < math.inf:
        raise ConfigError(f"sigma, the standard deviation of the noise, must be a finite number >= 0, not {sigma}")
    # Beyond these, the eighth power of delta_s leaves the range of a double.
    if not 1e-30 <= delta_s <= 1e30:
        raise ConfigError(f"delta_s, the compatibility constant, must be > 0 (from 1e-30 to 1e30), not {delta_s}")
    if not 0 < delta < 1:
        raise ConfigError(f"delta, the failure probability, must lie strictly between 0 and 1, not {delta}")


def check_s(s: float) -> None:
    """1 <= s < inf."""
    if not 1 <= s < math.inf:
        raise ConfigError(f"s counts explorations from 1 on: it must be a finite number >= 1, not {s}")


def check_T(T: float) -> None:
    """0 < T < inf."""
    if not 0 < T < math.inf:
        raise ConfigError(f"T, the number of rounds, must be a finite number > 0, not {T}")


def check_w_min(w_min: float | None) -> float:
    """0 < w_min <= 1 (as |w*|_1 <= 1)."""
    if w_min is None:
        raise ConfigError("w_min, the smallest non-zero |w*_i|, is needed where k0 is None: give a number in (0, 1]")
    if not 0 < w_min <= 1:
        raise ConfigError(f"w_min, the smallest non-zero |w*_i|, must lie in (0, 1] as |w*|_1 <= 1, not {w_min}")
    return w_min

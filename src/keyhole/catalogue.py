"""What exists: one record per algorithm, and `make`, the one way to build a learner."""

import difflib
import importlib
import inspect
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from .errors import ConfigError
from .protocol import Learner, Plain, check_budget
from .schedule import Rate, Squares
from .tuning import Scaled

__all__ = ["Algorithm", "algorithms", "make"]


@dataclass(frozen=True)
class Algorithm:
    """What there is to know about an algorithm before running it."""

    name: str
    setting: str
    assumptions: str
    bound: str
    cost: str
    reference: str
    status: str
    """"verified" (read and checked) or "reconstructed" (its steps are ours, its rate is theirs)."""
    path: str
    """Where the learner is: "module:Class", imported when it is made."""

    def to_dict(self) -> dict[str, str]:
        """The record as plain data, without the module path."""
        return {key: value for key, value in asdict(self).items() if key != "path"}


_PAPER = "Li, Liao, Xu and Nie, COLT 2025"
_ITO = "Ito, Hatano, Sumita, Yabe, Fukunaga, Kakimura and Kawarabayashi, NIPS 2017"
_INDEPENDENT = "(a) realizable, (b) sparse, (c) linearly independent features, (g) bounded noise, (i) i.i.d. rows"
_KALE = "Kale, Karnin, Liang and Pal, ICML 2017"
_MURATA = "Murata and Suzuki, NeurIPS 2018"

_ALGORITHMS = (
    Algorithm(
        name="ds-oslrc",
        setting="k of d",
        assumptions="(a) realizable, (b) sparse, (d) compatibility, (f) Gaussian noise; 3 <= k <= d-3",
        bound="4 sqrt(T) + 102^4 k^2 d^2 / (delta_S^8 h^2) ln^2(dT/delta) + O(1), with high probability",
        cost="O(LP_d / sqrt(T) + k^2)",
        reference=f"{_PAPER}, Algorithm 1",
        status="verified",
        path="keyhole.learners.ds_oslrc:DSOSLRC",
    ),
    Algorithm(
        name="ds-poslrc",
        setting="k of d, then k0 more",
        assumptions="(a) realizable, (b) sparse, (d) compatibility, (f) Gaussian noise; 3 <= k <= d-3, k0 >= 3",
        bound="O(k^2 d / (delta_S^4 k0) (d/k0 + ln T) ln(dT/delta)), with high probability",
        cost="O(LP_d)",
        reference=f"{_PAPER}, Algorithm 3",
        status="verified",
        path="keyhole.learners.ds_poslrc:DSPOSLRC",
    ),
    Algorithm(
        name="ito2017-1",
        setting="k of d, then k0 more",
        assumptions=f"{_INDEPENDENT}; k0 >= 2",
        bound="O(d / (sigma_d^2 k0) sqrt(T)), in expectation",
        cost="O(d)",
        reference=f"{_ITO}, Algorithm 1",
        status="reconstructed",
        path="keyhole.learners.ito2017:Ito1",
    ),
    Algorithm(
        name="ito2017-2",
        setting="k of d",
        assumptions=f"{_INDEPENDENT}; k >= 2",
        bound="8 sqrt(kT) + 8192^2 d^8 / (sigma_d^8 k^7 h^7) + O(1), in expectation",
        cost="O(d)",
        reference=f"{_ITO}, Algorithm 2",
        status="reconstructed",
        path="keyhole.learners.ito2017:Ito2",
    ),
    Algorithm(
        name="ito2017-3",
        setting="k of d",
        assumptions="(a) realizable, (b) sparse, (d) compatibility, (g) bounded noise, (i) i.i.d. rows; k >= 2",
        bound="8 sqrt(kT) + 128^2 36^8 d^8 / (delta_S^8 k^3 h^7) + O(1), in expectation",
        cost="O(d)",
        reference=f"{_ITO}, Algorithm 3",
        status="reconstructed",
        path="keyhole.learners.ito2017:Ito3",
    ),
    Algorithm(
        name="kale2017-dantzig",
        setting="k of d, then k0 more",
        assumptions="(a) realizable, (b) sparse, (e) restricted isometry, (f) Gaussian noise; k0 >= 2",
        bound="O(k^2 d^3 / k0^3 ln(T) ln(dT/delta)), with high probability",
        cost="O(LP_d log(T) / T + d)",
        reference=f"{_KALE}, Algorithm 1",
        status="reconstructed",
        path="keyhole.learners.kale2017_dantzig:KaleDantzig",
    ),
    Algorithm(
        name="foster2016",
        setting="k of d, then k0 more; small d",
        assumptions="none; k0 >= 2",
        bound="O(d^2 / k0^2 sqrt(kT ln d)), in expectation",
        cost="O(d^k)",
        reference="Foster, Kale and Karloff, COLT 2016",
        status="reconstructed",
        path="keyhole.learners.foster2016:Foster",
    ),
    Algorithm(
        name="support-bandit",
        setting="k of d; small d, or k <= 2, or k >= d-2",
        assumptions="none",
        bound="O(sqrt(NT)) in expectation, N = C(d, k) (batched-exp3: ~O(N^(1/3) T^(2/3)))",
        cost="O(d^k)",
        reference=f"{_PAPER}, section 2; Agarwal et al., COLT 2017; Foster et al., NeurIPS 2020; "
        "Ito et al., AISTATS 2018",
        status="reconstructed",
        path="keyhole.learners.support_bandit:SupportBandit",
    ),
    Algorithm(
        name="kale2017-greedy",
        setting="k of d, then k0 more",
        assumptions="(e) restricted isometry; k0 >= 1",
        bound="~O(T^(2/3)) poly(k, d), in expectation, with O(k ln T) attributes a round (here k)",
        cost="O(k0 k^2 + d)",
        reference=f"{_KALE}, Algorithm 2",
        status="reconstructed",
        path="keyhole.learners.kale2017_greedy:KaleGreedy",
    ),
    Algorithm(
        name="murata2018-explore",
        setting="k of d, iterates with s < k non-zeros",
        assumptions="(a) realizable, (b) sparse, restricted eigenvalues, (i) i.i.d. rows; k >= 2",
        bound="none for regret; O(1/eps) examples for excess risk eps",
        cost="O(d)",
        reference=f"{_MURATA}, exploration",
        status="reconstructed",
        path="keyhole.learners.murata2018:MurataExplore",
    ),
    Algorithm(
        name="murata2018-hybrid",
        setting="k of d, iterates with s < k non-zeros",
        assumptions="(a) realizable, (b) sparse, restricted eigenvalues, (i) i.i.d. rows; k >= 2",
        bound="none for regret; O(1/eps) examples for excess risk eps",
        cost="O(d + k^2)",
        reference=f"{_MURATA}, hybrid",
        status="reconstructed",
        path="keyhole.learners.murata2018:MurataHybrid",
    ),
)


def algorithms() -> tuple[Algorithm, ...]:
    """Every algorithm that `make` knows.

    >>> [a.name for a in algorithms()][:2]
    ['ds-oslrc', 'ds-poslrc']
    """
    return _ALGORITHMS


def make(
    name: str,
    *,
    d: int | None = None,
    names: Sequence[str] | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    **options: object,
) -> Learner:
    """Build a learner by name: `make("ds-oslrc", d=20, k=4, seed=0)`; a bad argument is a `ConfigError`.

    Give `d`, or `names` for attributes that have names. Without a seed one is drawn, and kept in `learner.seed`.
    """
    cls = _class_of(name)
    columns = _columns(d, names)
    allowed = _options_of(cls)
    for option in options:
        if option not in allowed:
            raise ConfigError(f"'{name}' has no option '{option}'; it has: {', '.join(allowed)}")
    k = _whole("k", k if k is not None else len(columns))
    k0 = _whole("k0", k0)
    check_budget(len(columns), k, k0)
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else _whole("seed", seed)
    if seed < 0:
        raise ConfigError(f"seed must be >= 0; it is {seed}")
    plain = {key: _plain(value) for key, value in options.items()}
    learner = cls(columns, k, k0, seed, **plain)
    learner.config = {"name": name, "k": k, "k0": k0, "seed": seed, "options": plain}
    learner.config |= {"d": len(columns)} if names is None else {"names": list(columns)}
    return learner


def from_config(config: dict[str, Plain]) -> Learner:
    """The learner that `make` made with this configuration, as new."""
    arguments = dict(config)
    options = arguments.pop("options")
    return make(**arguments, **options)  # type: ignore[arg-type]  # `make` checks each


def _class_of(name: str) -> type[Learner]:
    """The class behind a name, imported now."""
    paths = {a.name: a.path for a in _ALGORITHMS}
    if name not in paths:
        near = difflib.get_close_matches(str(name), paths, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(paths)}"
        raise ConfigError(f"there is no algorithm '{name}'; {hint}")
    module, cls = paths[name].split(":")
    found: type[Learner] = getattr(importlib.import_module(module), cls)
    return found


def _options_of(cls: type[Learner]) -> list[str]:
    """The options a learner takes beyond the budget and the seed."""
    return [p for p in inspect.signature(cls).parameters if p not in ("names", "k", "k0", "seed")]


def _columns(d: int | None, names: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the attributes, given or x0, x1, ..."""
    if (d is None) == (names is None):
        raise ConfigError("give either d (how many attributes) or names (what they are called)")
    if names is None:
        d = _whole("d", d)
        if d < 1:
            raise ConfigError(f"d must be at least 1; it is {d}")
        return tuple(f"x{i}" for i in range(d))
    columns = tuple(map(str, names))
    if len(set(columns)) < len(columns) or not columns:
        twice = next((c for i, c in enumerate(columns) if c in columns[:i]), None)
        raise ConfigError(f"names must be distinct: '{twice}' is there twice" if twice else "names is empty")
    return columns


def _whole(what: str, value: object) -> int:
    """A whole number, numpy's included, and no bool."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ConfigError(f"{what} must be a whole number, not {value!r}")
    return int(value)


def _plain(value: object) -> Plain:
    """An option as JSON can hold it; the learner's constructor reads it back."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()  # type: ignore[no-any-return]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Scaled | Rate | Squares):
        return str(value)
    raise ConfigError(f"an option must be a number, a string, a list or Scaled(c), not {value!r}")

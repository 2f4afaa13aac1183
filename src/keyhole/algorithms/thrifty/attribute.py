"""What `thrifty` knows of one attribute: a record of its `state`."""

__all__ = ["Attribute"]


class Attribute:
    """`attr[j]`."""

    # Its values are kept as (x - ref) / unit; unit 0: it has shown one value only.
    ref: float
    unit: float
    # Sums of 1, x, x^2 over all its values, before winsorising.
    raw_n: float
    raw_x: float
    raw_xx: float
    # How often it was bought, was observed, had been bought when it was last scored, when it last failed to join, and
    # when r, c and se below were worked out; how many labels had been told when it last had to leave.
    asked: int
    observed: int
    scored: int
    failed: int
    fresh: int
    left: int
    # Beside the support: covariance with the residual, conditional variance, standard error of r; how much likelier r
    # is of something worth a place than of nothing.
    r: float
    c: float
    se: float
    ratio: float
    # > 0: what it adds if it joins now; > 0: it may borrow a place.
    gain: float
    loan_value: float
    price: float
    # Sums of 1, x, x^2 over the rows that show it; their plain count. Sums of 1, e, x e over them, weighted by what
    # each says of it; of (x - u'x)^2, weighted by how much of that is its own: see `sums`.
    n: float
    x: float
    xx: float
    rows: int
    h: float
    e: float
    xe: float
    own_xx: float
    # Its place in the support, or -1; the place it would borrow; scratch of a fit, else -1; 1 + the place of the member
    # that may be its stand-in, else 0, and how much likelier that is than not.
    place: int
    displaced: int
    mark: int
    claims: int
    odds: float
    # The largest deviation; evidence that extremes are real; how far out they may be; how many were not: `extremes`.
    far: float
    genuine: float
    limit: float
    absurd: int
    # 1: constant or never observed; 2: determined by the support; how often it was bought when that was last asked; how
    # many values it took to see that it varies.
    idle: int
    judged: int
    varied: int

"""Formulas as the code writes them, `4 sqrt(T) + k^2 / h^2`, as MathML, which browsers set without a script."""

import re
from html import escape

__all__ = ["mathml"]

_GREEK = {"delta": "δ", "gamma": "γ", "sigma": "σ", "eps": "ε", "eta": "η", "mu": "μ", "nu": "ν", "rho": "ρ"}
_SIGNS = {"*": "·", "<=": "≤", ">=": "≥", "-": "−"}
_FUNCTIONS = ("ln", "log", "exp", "min", "max", "poly")
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[A-Za-z]+(?:_\w+)?|<=|>=|.)")


def mathml(text: str) -> str:
    """The formula as an element of HTML; words between its parts stay words.

    >>> mathml("k^2 sqrt(T)")
    '<math><mrow><msup><mi>k</mi><mn>2</mn></msup><msqrt><mi>T</mi></msqrt></mrow></math>'
    """
    tokens = _TOKEN.findall(text)
    parts: list[str] = []
    while tokens:
        parts += _row(tokens)
        if tokens:  # a bracket that closes nothing
            parts.append(f"<mo>{escape(tokens.pop(0))}</mo>")
    return f"<math><mrow>{''.join(parts)}</mrow></math>"


def _row(tokens: list[str]) -> list[str]:
    """Everything up to a closing bracket."""
    found: list[str] = []
    while tokens and tokens[0] != ")":
        atom = _atom(tokens)
        while tokens and tokens[0] == "^":
            tokens.pop(0)
            atom = f"<msup>{atom}{_atom(tokens, bare=True)}</msup>"
        found.append(atom)
    return found


def _atom(tokens: list[str], bare: bool = False) -> str:
    if not tokens:
        return "<mrow></mrow>"
    token = tokens.pop(0)
    if token == "(" or (token == "sqrt" and tokens[:1] == ["("]):
        if token == "sqrt":
            tokens.pop(0)
        inside = "".join(_row(tokens))
        tokens[:1] = []
        if token == "sqrt":
            return f"<msqrt>{inside}</msqrt>"
        return f"<mrow>{inside}</mrow>" if bare else f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"
    if token == "-" and bare:
        return f"<mrow><mo>−</mo>{_atom(tokens)}</mrow>"
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if not token[0].isalpha():
        return f"<mo>{escape(_SIGNS.get(token, token))}</mo>"
    name, _, index = token.partition("_")
    symbol = _GREEK.get(name, name)
    if len(symbol) > 2 and name not in _FUNCTIONS and not index:
        return f"<mtext>&#160;{escape(name)}&#160;</mtext>"
    letter = f"<mi>{escape(symbol)}</mi>"
    return f"<msub>{letter}<mi>{escape(index)}</mi></msub>" if index else letter

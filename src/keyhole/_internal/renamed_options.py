"""Options that had another name before 0.3, so that a message can say what they are called now."""

RENAMED = {
    "worth": "error_cost",
    "spend": "budget_per_row",
    "total": "total_budget",
    "rows": "expected_rows",
    "known": "free",
    "budget": "k",
    "extra": "k0",
    "looks": "explorations",
}
"""Old name to new name, as arguments of `kh.make` and as keys of a schema."""

_FLAGS = {f"--{old}": "-k" if new == "k" else f"--{new.replace('_', '-')}" for old, new in RENAMED.items()}
_FLAGS["--engine"] = "--executor"


def renamed_option(name: str) -> str | None:
    """Return a sentence that names the new option, or None if `name` was not renamed.

    >>> renamed_option("worth"), renamed_option("--worth"), renamed_option("prices")
    ("the option 'worth' is now called 'error_cost'", '--worth is now called --error-cost', None)
    """
    if name in RENAMED:
        return f"the option '{name}' is now called '{RENAMED[name]}'"
    return f"{name} is now called {_FLAGS[name]}" if name in _FLAGS else None

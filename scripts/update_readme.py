"""Run the example of README.md and write what it prints below it: python scripts/update_readme.py"""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.M | re.S)


def printed(text: str) -> str:
    """What the first example of a page prints."""
    example = EXAMPLE.search(text)
    assert example is not None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(example[1], "README.md", "exec"), {"__name__": "example"})
    return said.getvalue()


def main() -> None:
    """Replace the block below the example."""
    text = README.read_text(encoding="utf-8")
    example = EXAMPLE.search(text)
    assert example is not None
    README.write_text(text[: example.start(2)] + printed(text) + text[example.end(2) :], encoding="utf-8")


if __name__ == "__main__":
    main()

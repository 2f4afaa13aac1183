"""The page."""

from pathlib import Path


def write_report(folder: Path) -> None:
    (folder / "report.html").write_text("<p>todo")

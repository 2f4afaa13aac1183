"""The progress display of a run, and its interruption by the user."""

import signal
import time
from types import FrameType, TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from .._internal.escaping import printable
from ..runs import Totals
from ._text_tables import thousands

__all__ = ["Bar", "Screen"]


class Bar(Progress):
    """Rich's progress bar on stderr, which is hidden if stderr is not a terminal."""

    def __init__(self, *columns: ProgressColumn, transient: bool = False) -> None:
        console = Console(stderr=True)
        super().__init__(*columns, console=console, transient=transient, disable=not console.is_terminal)

    def stop(self) -> None:
        """End the bar. Rich 13 prints an empty line here, even for a bar that was never shown."""
        if not self.disable:
            super().stop()


class Screen:
    """A progress bar (rows/s, mean loss, bought, money, changes noticed), messages, and Ctrl-C as a request to stop.

    If the output is not a terminal, only the last line is printed.
    """

    def __init__(self, title: str, total: int | None = None) -> None:
        self.title, self.total = title, total
        self._begun: tuple[int, float] | None = None  # the first row seen and its time: a resumed run begins later
        self._ticked, self._shown, self._stop = 0.0, 0.0, False
        columns = (TextColumn("{task.description}"), BarColumn(20), TextColumn("{task.fields[line]}"))
        self._bar = Bar(*columns)
        self._task = self._bar.add_task(title, total=total, line="")
        self.line, self.rows = "", 0
        self._totals: Totals | None = None

    def __enter__(self) -> "Screen":
        self._before = {s: signal.signal(s, self._on_signal) for s in (signal.SIGINT, signal.SIGTERM)}
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._show()
        self._bar.stop()
        for s, handler in self._before.items():
            signal.signal(s, handler)

    def tick(self, rows: int, totals: Totals) -> None:
        """Show the progress, at most ten times a second."""
        self.rows, self._totals, self._ticked = rows, totals, time.monotonic()
        if self._ticked - self._shown > 0.1:
            self._show()

    def say(self, text: str, kind: str = "warning") -> None:
        """Print a message of the run."""
        self._bar.console.print(f"{kind}: {printable(text)}", highlight=False, markup=False, soft_wrap=True)

    def look(self, read: int, size: int) -> None:
        """Show how much of the file has been examined."""
        if time.monotonic() - self._shown > 0.1:
            self._shown = time.monotonic()
            self._bar.update(self._task, total=size, completed=read, line=f"checking the file {100 * read // size} %")
            if read == size:
                self._bar.update(self._task, total=self.total, completed=0, line="")

    def wants_to_stop(self) -> bool:
        """Return whether Ctrl-C was pressed (or SIGTERM was received)."""
        return self._stop

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._stop:
            raise KeyboardInterrupt  # second request: leave at once; the last checkpoint is valid
        self._stop = True

    def _show(self) -> None:
        self._shown = time.monotonic()
        if self._totals is not None:
            self.line = self._line(self.rows, self._totals, self._ticked)
            self._bar.update(self._task, completed=self.rows, line=self.line)

    def _line(self, rows: int, totals: Totals, now: float) -> str:
        start, began = self._begun or (rows, now)
        self._begun = (start, began)
        speed, played = (rows - start) / max(now - began, 1e-9), max(totals.rows, 1)
        of = f"{rows}/{self.total}" if self.total is not None else f"{rows}"
        bought, price, n = totals.ordered / played, totals.spent / played, len(totals.catalog.sources)
        parts = [of, f"{thousands(speed)} rows/s", f"mse {totals.mean_loss:.4g}", f"bought {bought:.1f}/{n}"]
        parts.append(f"price {price:.4g}/{totals.catalog.charge.sum():.4g}")
        noticed = len(totals.alarms)
        return "   ".join([*parts, *([f"{noticed} change{'s' * (noticed > 1)} noticed"] if noticed else [])])

"""One progress bar for every command: on a terminal a bar, elsewhere not a single character."""

from rich.console import Console
from rich.progress import Progress, ProgressColumn

__all__ = ["Bar"]


class Bar(Progress):
    """Rich's bar on stderr; nothing at all where that is no terminal."""

    def __init__(self, *columns: ProgressColumn, transient: bool = False) -> None:
        console = Console(stderr=True)
        super().__init__(*columns, console=console, transient=transient, disable=not console.is_terminal)

    def stop(self) -> None:
        """End the bar. Rich 13 writes an empty line here, also for a bar that was never shown."""
        if not self.disable:
            super().stop()

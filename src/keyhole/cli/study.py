"""`keyhole study`: measurements of the paper's claims."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._early_checks import require_experiment
from ._text_tables import typed_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..experiments.study import Experiment, Finding


def study(
    name: Annotated[str, typer.Argument(help="An experiment, or all; `keyhole study list` lists them.")],
    out: Annotated[Path, typer.Option(help="The folder of the results; the same command continues in it.")] = Path(
        "study"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sizes, but for what is finished in full.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    executor: Annotated[str, typer.Option(help="joblib, dask (on this machine), or dask=tcp://HOST:PORT.")] = "joblib",
    also: Annotated[str, typer.Option(help="Further algorithms, such as mypackage.module:Class, with commas.")] = "",
    chapter: Annotated[Path | None, typer.Option(help="Write the findings as a chapter (Markdown), too.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over the chapter.")] = False,
) -> None:
    """Measure what the paper proves: rates, regret, sampling, events. Finished parts are skipped.

    Example: keyhole study rates --quick --jobs 2 --out runs/study
    """
    require_experiment(name)

    from .._internal.output_folder import Folder, claim_file
    from ..core.registry.plugins import import_algorithm
    from ..core.registry.spec import Spec, split
    from ..experiments.executors import Executor
    from ..experiments.study import Experiment, names, publish, run, write_chapter
    from ..report import write_study
    from .compare import _bar as bar

    if name == "list":
        for known in names():
            print(f"{known:10}  {Experiment(known).question}")
        return
    further = split(also)
    for text in further:
        import_algorithm(Spec.parse(text).name)
    chosen = [_sized(known, quick, out, further) for known in (names() if name == "all" else (name,))]
    work = Executor.parse(executor, jobs)
    if chapter is not None:
        claim_file(chapter, force=force)
    folder = Folder.claim(out, "study")
    with folder.lock():
        with bar(len({part.key for e in chosen for part in e.parts})) as progress:
            try:
                run(chosen, folder, work, progress)
            except KeyboardInterrupt:
                kept = f"interrupted; finished parts are kept in {out}: type the same command to continue"
                print(kept, file=sys.stderr)
                raise typer.Exit(3) from None
        findings = [(experiment, experiment.judge(out)) for experiment in chosen]
        for experiment, finding in findings:
            publish(folder, experiment, finding)
            _print(experiment, finding)
        write_study(folder, findings, typed_command())
    if chapter is not None:
        write_chapter(chapter, findings, f"keyhole study {name}{' --quick' if quick else ''} --chapter {chapter}")
        print(f"chapter: {chapter}")
    print(f"figures and tables: {out}; report: {out / 'report.html'}")


def _sized(name: str, quick: bool, out: Path, also: "Sequence[str]") -> "Experiment":
    """Return the full experiment, or the quick one if requested and the folder lacks parts of the full one."""
    from ..experiments.study import Experiment

    full = Experiment(name, also=also)
    return Experiment(name, quick=True, also=also) if quick and full.missing(out) else full


def _print(experiment: "Experiment", finding: "Finding") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=experiment.title, title_justify="left", box=None, pad_edge=False)
    for i, head in enumerate(finding.head):
        table.add_column(head, justify="right" if i else "left", overflow="fold")
    for row in finding.rows:
        table.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table, markup=False)
    console.print(finding.verdict, markup=False, highlight=False, soft_wrap=True)
    print()

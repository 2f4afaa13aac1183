"""The report of a study: one section per finding, with the verdict on the paper's claim."""

from collections.abc import Sequence

from .._internal.output_folder import Folder
from ..experiments.study import Agreement, Experiment, Finding
from .page import Page, Section, Table, how_to_repeat, publish

__all__ = ["write_study"]


def write_study(folder: Folder, findings: Sequence[tuple[Experiment, Finding]], command: str) -> None:
    """Write report.html into the folder of the study."""
    sections = [Section("In short", table=_short(findings))] if len(findings) > 1 else []
    for experiment, finding in findings:
        texts = [experiment.question, finding.verdict]
        table = Table(finding.head, finding.rows)
        sections.append(Section(experiment.title, texts=texts, table=table, figures=finding.figures))
    title = "The paper, measured" if len(findings) > 1 else findings[0][0].title
    lead = ["Medians over seeds, with 10 to 90 % of them in brackets; streams are synthetic, so the truth is known."]
    publish(folder, Page(title, _advice(findings), [*sections, how_to_repeat(command)], lead=lead))


def _advice(findings: Sequence[tuple[Experiment, Finding]]) -> str:
    if len(findings) == 1:
        return findings[0][1].verdict
    counts = [sum(f.agrees is word for _, f in findings) for word in Agreement]
    seen = f"In {counts[0]} of {len(findings)} questions what the paper says was seen"
    open_ = f", in {counts[2]} it is undecided" if counts[2] else ""
    return f"{seen}, in {counts[1]} not at these sizes{open_}; in {counts[3]} it promises nothing."


def _short(findings: Sequence[tuple[Experiment, Finding]]) -> Table:
    rows = [[e.title, f.agrees, f.verdict] for e, f in findings]
    return Table(["experiment", "result", "in a sentence"], rows, words=(1, 2))

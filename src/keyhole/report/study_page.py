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
    lead = [
        "Numbers are medians over seeds, with the 10 % and 90 % quantiles in brackets unless stated otherwise. "
        "Streams are synthetic, so the true weights are known."
    ]
    publish(folder, Page(title, _advice(findings), [*sections, how_to_repeat(command)], lead=lead))


def _advice(findings: Sequence[tuple[Experiment, Finding]]) -> str:
    if len(findings) == 1:
        return findings[0][1].verdict
    claims = [found for _, f in findings for found in f.agrees.values() if found is not Agreement.NOTHING]
    counts = [claims.count(word) for word in (Agreement.CONFIRMED, Agreement.UNDECIDED, Agreement.NOT_CONFIRMED)]
    return (
        f"Of {len(claims)} claims, counted by algorithm, {counts[0]} are confirmed, {counts[1]} undecided and "
        f"{counts[2]} not confirmed at these sizes."
    )


def _short(findings: Sequence[tuple[Experiment, Finding]]) -> Table:
    rows = [[e.title, f.agreement(), f.verdict] for e, f in findings]
    return Table(["experiment", "result", "in a sentence"], rows, words=(1, 2))

"""`keyhole bounds`: the bounds of the theorems for given numbers, and whether they are valid or vacuous."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from .._internal.typing import Floats
    from ..theory import Bound
    from ._bound_sweep import Arguments, Column


def bounds(
    name: Annotated[str | None, typer.Argument(help="The bound to print term by term; all are compared.")] = None,
    d: Annotated[int, typer.Option("--d", help="Attributes.")] = 20,
    k: Annotated[int, typer.Option("--k", help="Attributes bought before the label.")] = 5,
    T: Annotated[float, typer.Option("--T", help="Rounds, such as 1e6.")] = 1e6,
    k0: Annotated[int | None, typer.Option("--k0", help="Attributes bought after the label; else k.")] = None,
    sigma: Annotated[float, typer.Option(help="Standard deviation of the noise.")] = 0.1,
    delta_s: Annotated[float, typer.Option(help="Compatibility constant of the true support.")] = 1.0,
    sigma_d: Annotated[float | None, typer.Option(help="Root of the smallest eigenvalue; else delta-s.")] = None,
    kappa: Annotated[float | None, typer.Option(help="Restricted eigenvalue constant, for the l2 error.")] = None,
    w_min: Annotated[float | None, typer.Option(help="Smallest non-zero weight; else 1/k.")] = None,
    delta: Annotated[float | None, typer.Option(help="The paper's delta, of one event.")] = None,
    failure: Annotated[float | None, typer.Option(help="Instead of --delta: of the whole bound (0.05).")] = None,
    corrected: Annotated[bool, typer.Option("--corrected", help="What the proofs give, not what is printed.")] = False,
    sweep: Annotated[str | None, typer.Option(help="Along one letter: T=1e4..1e24, d=10..1000.")] = None,
    out: Annotated[Path | None, typer.Option(help="With --sweep: the figure to write, FILE.svg.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over the figure.")] = False,
) -> None:
    """Print bounds term by term, their probability, and from which T on they are valid and not vacuous.

    Example: keyhole bounds ds-oslrc --d 20 --k 5 --sigma 0.1 --delta-s 0.5 --w-min 0.1 --delta 1e-6 --T 1e6
    """
    from ..errors import ConfigError
    from ..theory import bound, bounds_beside
    from ._bound_sweep import along, filled

    arguments: Arguments = {"d": d, "k": k, "T": T, "k0": k0, "sigma": sigma, "delta_s": delta_s, "sigma_d": sigma_d}
    arguments |= {"kappa": kappa, "w_min": w_min, "delta": delta, "failure": failure, "corrected": corrected}
    if out is not None and sweep is None:
        raise ConfigError("--out is for the figure of a sweep: add --sweep T=1e4..1e24")
    _check_figure(out, force)
    lines = [] if name is None else detail(bound(name, **filled(arguments)))  # type: ignore[arg-type]
    swept = None if sweep is None else along(sweep, arguments)  # report errors before anything is printed
    if lines:
        print("\n".join(f" {line}" for line in lines), end="\n\n")
    if swept is not None:
        _sweep(*swept, out)
        return
    found = list(bounds_beside(**filled(arguments)))
    if all(isinstance(b, str) for _, b in found):
        raise ConfigError(str(found[0][1]))  # the arguments are invalid for every bound
    _table(["bound", "at T", "holds", "verdict", "useful from T on", "source"], [_line(n, b) for n, b in found])
    print(
        "an order (~) has its constant taken as 1: compare its growth, not its size; predicting 0 costs at most about T"
    )
    if k0 is None:
        print(f"ds-poslrc, ito2017-1, kale2017, foster2016 buy more after the label: k0 = {max(3, k)} stands in (--k0)")


def detail(b: "Bound") -> list[str]:
    """Return the terms of a bound as lines."""
    p = b.setting
    lines = [f"{b.name}: {b.statement.source}, assumptions {b.statement.assumptions}"]
    if b.name.startswith("ds-"):
        p = replace(p, delta_s=p.kappa) if b.name.endswith("restricted") else p
        c = p.poslr if b.name.startswith("ds-poslrc") else p.oslr
        s2 = "" if p.w_min is None or c.k0 is not None else f"  s2 {c.s2(p.w_min):.3g}"
        lines.append(f"s0 {c.s0:.3g}  s1 {c.s1:.3g}{s2}  (delta {p.delta:.3g})")
        if p.corrected:
            repair = (
                "gamma as printed" if c.gamma_holds else "gamma as printed may be too small: the unconditional repair"
            )
            lines.append(f"condition (C) of E35 {c.gamma_condition:.3g} (holds up to 1): {repair}")
    if b.T_needed > 0:
        met = "met" if b.applies else "not met"
        lines.append(f"needs T > {b.T_needed:.3g}: {met} at T = {p.T:.3g} | {b.evaluation.why}")
    width = max(map(len, [*b.parts, *b.hidden, "total"]))
    lines += [f"  {part:{width}}  {value:10.3g}" for part, value in b.parts.items()]
    lines += [f"  {part:{width}}  {value:10.3g}  hidden in the O(1)" for part, value in b.hidden.items()]
    trivial = {"regret": f" (predicting 0 costs at most about {p.T:.3g})", "error": " (w = 0 has at most 1)"}
    lines.append(f"  {'total':{width}}  {b.total:10.3g}  {b.verdict}{trivial.get(b.statement.kind, '')}")
    lines.append(_how_often(b))
    if b.statement.kind in ("regret", "error"):
        wanted = b.failure_wanted or 0.05
        chosen = "" if b.in_mean else f" (delta chosen for each T to fail with {wanted:g})"
        never = b.T_useful == float("inf")
        when = f"valid and not vacuous {'at no T' if never else f'from T = {b.T_useful:.3g} on'}{chosen}"
        lines.append(f"{when}; late: {b.at_last.evaluation.why}" if never else when)
    return [*lines, *b.notes]


def _how_often(b: "Bound") -> str:
    if b.in_mean:
        return "holds in expectation"
    failing = "promises nothing: what may go wrong adds up to a probability of 1"
    said = f"holds with probability {1 - b.failure:.4g}" if b.failure < 1 else failing
    return f"{said} (delta {b.setting.delta:.3g})"


def _line(name: str, b: "Bound | str") -> list[str]:
    if isinstance(b, str):
        return [name, "-", "-", b.removeprefix(f"the bound '{name}' ").partition(";")[0], "-", "-"]
    holds = "in mean" if b.in_mean else f"{1 - b.failure:.3g}"
    sign = "" if b.statement.exact else "~"
    useful = "never" if b.T_useful == float("inf") else f"{b.T_useful:.2g}"
    fits = b.statement.kind in ("regret", "error")
    total = f"{sign}{b.total:.3g}" if b.total > 0 else "-"  # its logarithms may be negative if it does not apply to T
    return [name, total, holds, b.verdict, useful if fits else "-", b.statement.source]


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for i, column in enumerate(head):
        table.add_column(column, justify="right" if i and column != "source" else "left", overflow="fold")
    for line in lines:
        table.add_row(*line)
    Console(width=None if sys.stdout.isatty() else 160).print(table, markup=False)


def _check_figure(out: Path | None, force: bool) -> None:
    from ..errors import ConfigError

    if out is not None and out.suffix != ".svg":
        raise ConfigError(f"the figure is an SVG: --out {out.stem}.svg")
    if out is not None and out.exists() and not force:
        raise ConfigError(f"{out} exists; choose another name or add --force")


def _sweep(letter: str, values: "Floats", columns: "dict[str, Column]", out: Path | None) -> None:
    """Print one line per value of the parameter, one column per regret bound."""
    from ..errors import ConfigError
    from ._bound_sweep import figure_of, written

    head = [letter, *columns]
    rows = [[f"{v:.4g}", *(written(column, i) for column in columns.values())] for i, v in enumerate(values)]
    _table(head, rows)
    if any("*" in cell for row in rows for cell in row):
        print("* the theorem does not apply to these numbers; `keyhole bounds NAME` says what it needs")
    if out is None:
        return
    try:
        figure_of(letter, values, columns).save(out)
    except OSError as fault:
        raise ConfigError(f"{out} cannot be written ({fault.strerror})") from None
    print(f"figure: {out}")

"""What a run folder holds, gathered into the few numbers that a page shows."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from .._types import Floats, Ints
from ..runs.pages import page_length

__all__ = ["Story", "read_story"]

_BINS = 24


@dataclass(frozen=True, eq=False)
class Story:
    """A run over at most 24 stretches of rows, whose borders are page borders."""

    summary: dict[str, Any]
    edges: Ints
    """(n + 1,): stretch i is the rows edges[i] + 1 to edges[i + 1]."""
    loss: Floats
    """(n,) the mean squared error in each stretch."""
    loss_so_far: Floats
    """(n,) from the first row to the end of each stretch."""
    money: Floats
    """(n,) spent up to the end of each stretch."""
    names: list[str]
    """The attributes that were ever bought, the most bought first."""
    share: Floats
    """(names, n): in which share of a stretch's rows an attribute was bought."""
    weights: Floats
    """(names, n): the weight at the end of each stretch."""

    @property
    def ends(self) -> Floats:
        """The last row of each stretch."""
        return self.edges[1:].astype(np.float64)


def read_story(folder: Path) -> Story:
    """The story of a finished run; memory does not grow with its length."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    edges = _edges(summary["rows"])
    sums, labelled, price = _rounds(folder / "rounds.parquet", edges)
    bought = {name: facts for name, facts in summary["attributes"].items() if facts["bought"]}
    share, weights = _ledger(folder / "ledger.parquet", edges, list(bought))
    return Story(
        summary=summary,
        edges=edges,
        loss=sums / np.maximum(labelled, 1),
        loss_so_far=np.cumsum(sums) / np.maximum(np.cumsum(labelled), 1),
        money=np.cumsum(price),
        names=list(bought),
        share=share,
        weights=weights,
    )


def _edges(rows: int) -> Ints:
    """Borders of about equal stretches, at borders of pages."""
    borders = [0]
    while borders[-1] < rows:
        borders.append(min(rows, borders[-1] + page_length(borders[-1])))
    wanted = np.linspace(0, rows, min(_BINS, len(borders) - 1) + 1)
    nearest = np.searchsorted(borders, wanted)
    return np.unique(np.array(borders, dtype=np.int64)[nearest])


def _rounds(path: Path, edges: Ints) -> tuple[Floats, Floats, Floats]:
    """Per stretch: the sum of losses, how many labels, and the money."""
    n = edges.size - 1
    totals = np.zeros((3, n))
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=["row", "loss", "price"])
            row, loss, price = (np.asarray(table[c]) for c in ("row", "loss", "price"))
            at = np.searchsorted(edges, row - 1, side="right") - 1
            for i, values in enumerate((np.nan_to_num(loss, nan=0.0), ~np.isnan(loss), price)):
                totals[i] += np.bincount(at, weights=values, minlength=n)
    return totals[0], totals[1], totals[2]


def _ledger(path: Path, edges: Ints, names: list[str]) -> tuple[Floats, Floats]:
    """Per attribute and stretch: the share of rows it was bought in, and the weight at the end."""
    table = pq.read_table(path, columns=["last_row", "attribute", "bought", "weight"])
    last, bought, weight = (np.asarray(table[c]) for c in ("last_row", "bought", "weight"))
    place = {name: i for i, name in enumerate(names)}
    i = np.array([place.get(name, -1) for name in table["attribute"].to_pylist()], dtype=np.int64)
    at = np.searchsorted(edges, last, side="left") - 1
    share, weights = np.zeros((len(names), edges.size - 1)), np.zeros((len(names), edges.size - 1))
    known, ends = i >= 0, (i >= 0) & (last == edges[at + 1])
    np.add.at(share, (i[known], at[known]), bought[known])
    weights[i[ends], at[ends]] = weight[ends]
    return share / np.diff(edges), weights

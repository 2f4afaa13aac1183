"""A clinic's file as people have them, and the schema its manager would write after `keyhole diagnose`.

cost = 9000 + 120 age + 1500 [sex = m] + 6000 [smoker] + 2500 ldl - 1800 hdl + 900 crp + 3 a day since 2023 + noise; the
rest (trig, wbc, ph, protein, site, income, weight) is beside the point, `ward` never changes, `notes` are words.
"""

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

HEADER = [
    *("patient", "age", "sex", "smoker", "visit", "ldl", "hdl", "trig", "crp", "wbc", "ph", "protein"),
    *("site", "income", "weight", "ward", "notes", "cost"),
]
SITES = ("east", "north", "south")
EMPTY = ("ldl", "hdl", "crp", "weight", "smoker", "site", "visit", "income")
"""The columns with empty cells, one in twenty."""

SCHEMA = """\
# what we order at the clinic
ignored = ["patient", "ward", "notes"]

[label]
name = "cost"
unit = "EUR"
numbers = "1,234.56"

[money]
currency = "EUR"

[sources.lipids]      # one tube
price = 12.0
columns = ["ldl", "hdl", "trig"]

[sources.inflammation]
price = 9.5
columns = ["crp", "wbc"]

[attributes.age]
free = true
[attributes.sex]
type = "category"
free = true
[attributes.smoker]
type = "yes/no"
price = 0.5
[attributes.visit]
type = "date"
price = 0.1
[attributes.ph]
price = 2.0
[attributes.protein]
price = 2.0
[attributes.site]
type = "category"
price = 0.2
[attributes.income]
numbers = "1,234.56"
price = 1.0
[attributes.weight]
numbers = "1.234,56"
price = 1.5
"""


def write_clinic(path: Path, rows: int = 400, seed: int = 0) -> Path:
    """The file, with Windows line ends, quotes where needed, and a note of two lines now and then."""
    rng = np.random.default_rng(seed)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for i in range(rows):
            row = _row(rng, i)
            gaps = {name: "" for name in EMPTY if rng.random() < 0.05}
            writer.writerow([(row | gaps)[name] for name in HEADER])
    return path


def _row(rng: np.random.Generator, i: int) -> dict[str, str]:
    age, sex, smoker = int(rng.integers(18, 95)), rng.choice(["f", "m"]), bool(rng.random() < 0.3)
    day, (ldl, hdl, crp) = int(rng.integers(0, 700)), rng.normal([3.0, 1.4, 4.0], [1.0, 0.4, 2.0])
    cost = 9000 + 120 * age + 1500 * (sex == "m") + 6000 * smoker + 2500 * ldl - 1800 * hdl + 900 * crp + 3 * day
    weight = f"{rng.normal(75, 12):.1f}".replace(".", ",")
    return {
        "patient": str(i + 1),
        "age": str(age),
        "sex": str(sex),
        "smoker": str(rng.choice(["yes", "Yes", "TRUE"] if smoker else ["no", "NO", "false"])),
        "visit": str(date(2023, 1, 1) + timedelta(days=day)),
        "ldl": f"{ldl:.2f}",
        "hdl": f"{hdl:.2f}",
        "trig": f"{rng.normal(1.5, 0.5):.2f}",
        "crp": f"{crp:.2f}",
        "wbc": f"{rng.normal(7, 2):.1f}",
        "ph": f"{rng.normal(6, 0.5):.1f}",
        "protein": f"{rng.exponential(10):.0f}",
        "site": str(rng.choice(SITES)),
        "income": f"{rng.integers(500, 90_000):,}",
        "weight": weight,
        "ward": "7",
        "notes": f"seen by {rng.integers(0, 99)},\nagain in {i} days" if i % 3 else f"visit {i}",
        "cost": f"{cost + 500 * rng.normal():,.2f}",
    }

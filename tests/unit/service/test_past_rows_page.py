"""Past rows on the page of a learner: a file, a preview, and then they are learnt."""

import html
import re
import time

import numpy as np
import pytest

from keyhole.core.serialization import to_bytes

from .conftest import NAMES

LEARN = "/learners/icu/past_rows"
ROWS = np.random.default_rng(0).normal(size=(12, len(NAMES))).round(3)


def csv_of(rows=ROWS, label=1.5, head=(*NAMES, "bp")):
    lines = [",".join(head), *(",".join([*map(str, row), str(label)]) for row in rows)]
    return "\n".join(lines) + "\n"


def send(api, text, label="bp", **more):
    content = text if isinstance(text, bytes) else text.encode()
    fields = {name: (None, value) for name, value in {"label": label, **more}.items()}
    return api.post(LEARN, files={"table": ("past.csv", content, "text/csv"), **fields})


def test_the_preview_changes_nothing_and_the_second_step_learns(icu, app):
    stored = app.state.store["icu"]
    rows = [[*row[:-1], ""] for row in ROWS.tolist()[:1]] + ROWS.tolist()[1:]
    text = csv_of(rows, head=(*NAMES, "bp")).replace("1.5\n", "\n", 1)  # the first row has no label and one gap
    before = to_bytes(stored.learner())
    answer = send(icu, text)
    assert answer.status_code == 200
    assert "11 rows to learn from, free; 1 without a label are skipped." in answer.text
    assert "Empty cells: bmi 1." in answer.text
    assert (to_bytes(stored.learner()), stored.head) == (before, 0)
    kept = html.unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", answer.text, re.S)[1])
    assert kept == text
    for _ in range(2):  # a page that is sent twice is learnt once
        answer = send(icu, kept, learn="yes")
        assert (answer.status_code, answer.headers["location"]) == (303, "/learners/icu")
    assert (stored.learner().n_past_rows, stored.learner().n_unlabelled_past_rows, stored.head) == (11, 1, 1)
    assert "<dd>11, free</dd>" in icu.get("/learners/icu").text
    assert "past rows: 11, free" in icu.get("/v1/learners/icu/ledger.csv").text
    assert stored.totals().spent == 0.0


def test_columns_that_are_not_attributes_are_named(icu):
    text = csv_of(head=(*NAMES, "bp")).replace("bp\n", "bp,<i>ward</i>\n", 1).replace("1.5\n", "1.5,7\n")
    answer = send(icu, text)
    assert "Not used: &lt;i&gt;ward&lt;/i&gt;." in answer.text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the table needs a first line"),
        ("a,b\n1,2\n", "the table has no column &#39;age&#39;"),
        (csv_of(head=(*NAMES, "other")), "the table has no column &#39;bp&#39;"),
        (csv_of(head=(*NAMES[:-1], "age", "bp")), "has the column &#39;age&#39; twice"),
        (csv_of().replace("1.5", "six", 1), "line 2, column &#39;bp&#39; is &#39;six&#39;, not a number"),
        (csv_of().replace("1.5", "inf", 1), "line 2, column &#39;bp&#39; is &#39;inf&#39;, not a number"),
        (csv_of() + "1,2\n", "line 14 has 2 cells, the first line has 8"),
        (csv_of(label=""), "no row has a label in the column &#39;bp&#39;"),
        ('"a\n', "line 1 of the CSV cannot be read"),
        (b"\xff\xfe1", "the table is not UTF-8 text"),
    ],
)
def test_a_wrong_table_is_one_sentence_and_learns_nothing(icu, app, text, sentence):
    before = to_bytes(app.state.store["icu"].learner())
    for more in ({}, {"learn": "yes"}):
        answer = send(icu, text, **more)
        assert answer.status_code == 422
        assert sentence in answer.text
    assert to_bytes(app.state.store["icu"].learner()) == before


def test_a_hundred_thousand_names_take_seconds_of_the_processor_and_not_minutes(icu):
    """The time to read names grows with their number, and not with its square."""
    names = [f"{i:x}" for i in range(99_999)]
    begun = time.process_time()
    answer = send(icu, ",".join(names) + "\n1\n")
    assert "the table has no column &#39;age&#39;" in answer.text
    answer = send(icu, csv_of(head=(*names, "fff")))
    assert "has the column &#39;fff&#39; twice" in answer.text
    body = {"name": "wide", "algorithm": "fixed-random", "names": [*names, "fff"], "k": 3}
    assert "names must be distinct: 'fff' occurs twice" in icu.post("/v1/learners", json=body).json()["detail"]
    assert time.process_time() - begun < 10.0


def test_the_label_may_be_a_column_that_is_an_attribute_too(icu):
    answer = send(icu, csv_of(), label="age")
    assert answer.status_code == 200
    assert "Not used: bp." in answer.text


def test_another_kind_of_body_is_refused(icu):
    answer = icu.post(LEARN, content=b"table=1", headers={"content-type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 422
    assert "multipart/form-data" in answer.text


def test_yes_and_no_are_labels_of_a_binary_learner(api, app):
    options = {"name": "icu", "algorithm": "thrifty", "names": NAMES, "k": 3, "seed": 0, "label": "binary"}
    assert api.post("/v1/learners", json=options).status_code == 201
    text = csv_of(label="Yes").replace("Yes", "no", 4).replace("no", "", 1)
    assert send(api, text, learn="yes").status_code == 303
    assert app.state.store["icu"].learner().calibrator.counts.tolist() == [3.0, 8.0]
    assert "is &#39;2&#39;; the label is yes or no" in send(api, csv_of(label=2)).text


def test_a_learner_that_takes_none_has_no_form(api):
    options = {"name": "icu", "algorithm": "aer", "names": NAMES, "k": 3, "seed": 0}
    assert api.post("/v1/learners", json=options).status_code == 201
    assert "Past rows" not in api.get("/learners/icu").text
    assert "cannot learn from past rows; thrifty" in send(api, csv_of(), learn="yes").text

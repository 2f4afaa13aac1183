"""What goes in and out: moments as ISO 8601, rounds as JSON, labels that are numbers, values that can be true."""

from datetime import datetime

import keyhole as kh
from keyhole.service.client import round_of
from keyhole.service.ui.view_models import card
from keyhole.store.models import Totals

from .test_routes import ask, refused

SCHEMA = """
[label]
name = "sbp"
unit = "mmHg"
[money]
currency = "EUR"
[attributes]
bmi = {low = 16, high = 44, unit = "kg/m2", price = 1.0}
female = {type = "yes/no", price = 0.1}
"""


def test_moments_are_iso_8601_and_a_round_is_json(icu):
    r = ask(icu, "a", deadline="2026-11-18T12:00:00+01:00")
    assert datetime.fromisoformat(r["asked_at"]).utcoffset().total_seconds() == 0
    assert datetime.fromisoformat(r["deadline"]) == datetime.fromisoformat("2026-11-18T11:00:00+00:00")
    assert r["labelled_at"] is None
    again = round_of(r)
    assert (list(again.names), again.asked_at) == (r["attributes"], datetime.fromisoformat(r["asked_at"]).timestamp())
    assert kh.Round.from_json(again.to_json()).plain() == again.plain()
    refused(icu.post("/v1/learners/icu/rounds", json={"key": "b", "deadline": "2026-11-18T12:00:00"}), 422)
    icu.post(f"/v1/rounds/{r['id']}/label", json={"y": 1.0, "values": dict.fromkeys(r["attributes"], 0.5)})
    history = icu.get("/v1/learners/icu/history").json()
    assert datetime.fromisoformat(history["labelled_at"][0]) >= datetime.fromisoformat(r["asked_at"])


def test_labels_with_an_underscore_or_other_digits_are_refused(icu):
    for key in ("a", "b", "c"):
        r = ask(icu, key)
        icu.post(f"/v1/rounds/{r['id']}/prediction", json={"values": dict.fromkeys(r["attributes"], 0.5)})
    text = "key,y\na,1_5\nb,٣\nc,1.5\n"
    answer = icu.post("/v1/learners/icu/labels", content=text.encode(), headers={"content-type": "text/csv"}).json()
    assert [line["status"] for line in answer["lines"]] == ["refused", "refused", "labelled"]
    assert "must be a number, not '1_5'" in answer["lines"][0]["message"]
    page = icu.post("/rounds/icu:1/label", data={"y": "1_5"})
    assert page.status_code == 422
    assert icu.get("/v1/learners/icu").json()["n_labels"] == 1


def test_the_page_shows_the_range_and_the_unit_and_names_an_impossible_value(api):
    made = {"name": "clinic", "schema": SCHEMA, "k": 2, "seed": 0}
    assert api.post("/v1/learners", json=made).status_code == 201
    r = api.post("/v1/learners/clinic/rounds", json={"key": "p1", "available": ["bmi", "female"]}).json()
    page = api.get(f"/rounds/{r['id']}").text
    for name, words in (("bmi", "16 to 44 kg/m2"), ("female", "0 to 1")):
        assert (f"({words})" in page) == (name in r["attributes"])
    values = {name: {"bmi": 270.0, "female": 60.0}[name] for name in r["attributes"]}
    api.post(f"/v1/rounds/{r['id']}/prediction", json={"values": values})
    page = api.get(f"/rounds/{r['id']}").text
    assert r["attributes"]
    for name in r["attributes"]:
        words = {
            "bmi": "bmi = 270 is outside 16 to 44 kg/m2 (stated)",
            "female": "female = 60 is outside 0 to 1 (stated)",
        }
        assert words[name] in page
    learner = api.get("/learners/clinic").text
    assert f"{len(values)} values of the last rounds are outside their usual range" in learner


def test_without_a_schema_the_range_is_what_was_seen(icu):
    name = ask(icu, "first")["attributes"][0]
    for i in range(30):
        r = ask(icu, f"p{i}")
        values = dict.fromkeys(r["attributes"], 20.0 + i % 10)
        icu.post(f"/v1/rounds/{r['id']}/prediction", json={"values": values})
        icu.post(f"/v1/rounds/{r['id']}/label", json={"y": 120.0 + i})
    r = ask(icu, "odd")
    assert "(20 to 29)" in icu.get(f"/rounds/{r['id']}").text
    values = dict.fromkeys(r["attributes"], 25.0) | {name: 32.0}
    icu.post(f"/v1/rounds/{r['id']}/prediction", json={"values": values})
    assert "is outside" not in icu.get(f"/rounds/{r['id']}").text  # a little more than was seen is no surprise
    icu.post(f"/v1/rounds/{r['id']}/prediction", json={"values": values | {name: 270.0}})
    page = icu.get(f"/rounds/{r['id']}").text
    assert "= 270 is outside 20 to 29 (seen so far)" in page
    said = icu.get("/v1/rounds/" + r["id"]).json()["prediction"]
    assert f"{said:.0f} </p>" in page or f"{said:.0f} " in page  # the labels are whole numbers


def test_a_card_writes_money_as_the_reports_do():
    totals = Totals(
        n_asked=2000, n_labels=1995, n_scored=1995, loss=4 * 1995.0, baseline_loss=9 * 1995.0, spent=12919.0
    )
    shown = card("nhanes", "thrifty", totals, {"unit": "%", "currency": "USD"})
    assert (shown.spent, shown.per_round) == ("12 919 USD", "6.46 USD")
    assert (shown.error, shown.baseline) == ("2 points", "3 points")


def test_the_page_of_a_learner_writes_predictions_as_labels_and_money_with_its_currency(api):
    made = {"name": "clinic", "schema": SCHEMA, "k": 2, "seed": 0}
    assert api.post("/v1/learners", json=made).status_code == 201
    for i in range(31):
        r = api.post("/v1/learners/clinic/rounds", json={"key": f"p{i}"}).json()
        api.post(f"/v1/rounds/{r['id']}/prediction", json={"values": dict.fromkeys(r["attributes"], 0.1 * (i % 7))})
        if i < 30:
            api.post(f"/v1/rounds/{r['id']}/label", json={"y": 120.0 + i})
    said = api.get("/v1/rounds/" + r["id"]).json()["prediction"]
    page = api.get("/learners/clinic").text
    assert f"predicted {said:.0f}<" in page.replace("</span>", "<")
    assert page.count("price, EUR</th>") == 2
    assert "why (money in EUR)</th>" in page
    assert f"<td>{r['price']:.2f}</td>" in page


def test_errors_of_a_percentage_are_in_points(api):
    made = {"name": "clinic", "schema": SCHEMA.replace("mmHg", "%"), "k": 2, "seed": 0}
    assert api.post("/v1/learners", json=made).status_code == 201
    for i in range(4):
        r = api.post("/v1/learners/clinic/rounds", json={"key": f"p{i}"}).json()
        api.post(f"/v1/rounds/{r['id']}/prediction", json={"values": dict.fromkeys(r["attributes"], 0.1 * i)})
        api.post(f"/v1/rounds/{r['id']}/label", json={"y": 50.0 + i})
    figures = api.get("/learners/clinic/figures").text
    assert "root mean squared error, points" in figures
    assert "root mean squared error, %" not in figures


def test_probabilities_are_not_rounded_to_the_decimals_of_their_labels(api):
    made = {"name": "clinic", "schema": SCHEMA, "k": 2, "seed": 0}
    assert api.post("/v1/learners", json=made).status_code == 201
    for i in range(32):
        r = api.post("/v1/learners/clinic/rounds", json={"key": f"p{i}"}).json()
        values = dict.fromkeys(r["attributes"], 0.1 * (i % 7))
        said = api.post(f"/v1/rounds/{r['id']}/prediction", json={"values": values}).json()["prediction"]
        if i < 31:
            api.post(f"/v1/rounds/{r['id']}/label", json={"y": float(i % 3 == 0)})
    assert f"predicted {said:.4g}<" in api.get("/learners/clinic").text


def test_the_reasons_of_a_learner_are_by_source(icu):
    page = icu.get("/learners/icu").text
    assert '<th scope="col">source</th>' in page
    assert "more attributes" not in page

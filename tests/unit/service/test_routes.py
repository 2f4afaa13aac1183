"""Every call of the table: what it gives, what it refuses, and that a refusal changes nothing."""

import dataclasses
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import keyhole as kh
from keyhole.service import exports, routes
from keyhole.store.models import StoreUnavailable

from .conftest import ICU, NAMES

PROBLEM = "application/problem+json"


def ask(api, key, **more):
    answer = api.post("/v1/learners/icu/rounds", json={"key": key, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def refused(answer, status, words=""):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == PROBLEM
    problem = answer.json()
    assert problem["status"] == status
    assert words in problem["detail"]
    return problem


def test_a_whole_round(icu):
    r = ask(icu, "patient-17")
    assert r["id"] == "icu:1"
    assert r["attributes"] == r["sources"]
    assert set(r["attributes"]) <= set(NAMES)
    assert r["price"] == 0.0
    values = dict.fromkeys(r["attributes"], 0.5) | {r["attributes"][0]: None}
    said = icu.post("/v1/rounds/icu:1/prediction", json={"values": values}).json()
    assert (said["low"], said["high"], said["values"]) == (None, None, values)
    assert (r["new"], said["new"]) == (True, True)
    assert ask(icu, "patient-17") == said | {"new": False}
    labelled = icu.post("/v1/rounds/icu:1/label", json={"y": 0.25}).json()
    assert labelled == said | {"status": "labelled", "label": 0.25} | {
        name: labelled[name] for name in ("labelled_at", "extra_values")
    }
    assert icu.get("/v1/rounds/icu:1").json() == labelled | {"new": False}
    assert icu.post("/v1/rounds/icu:1/label", json={"y": 0.25, "values": values}).json()["new"] is False
    refused(icu.post("/v1/rounds/icu:1/label", json={"y": 0.26}), 409, "already has a label, 0.25")
    refused(icu.post("/v1/rounds/icu:1/prediction", json={"values": values}), 409, "already has its label")
    refused(icu.post("/v1/rounds/icu:1/abandon"), 409)
    state = icu.get("/v1/learners/icu").json()
    assert (state["n_rounds"], state["n_labels"], state["n_open"], state["last_event"]) == (1, 1, 0, 3)
    assert state["mean_loss"] is None  # the first label is left out


def test_a_learner_shows_what_it_is(api):
    """Support, weights, loss beside that of who buys nothing, money, open rounds, warnings."""
    prices = dict.fromkeys(NAMES, 2.0)
    assert api.post("/v1/learners", json=ICU | {"algorithm": "thrifty", "prices": prices}).status_code == 201
    for i in range(40):
        r = ask(api, f"p{i}", **({"deadline": 1.0} if i == 39 else {}))
        values = {name: ((7 * i + 3 * NAMES.index(name)) % 11) / 5 - 1 for name in r["attributes"]}
        said = api.post(f"/v1/rounds/{r['id']}/prediction", json={"values": values}).json()
        if i < 39:
            y = sum(values.values())
            assert api.post(f"/v1/rounds/{r['id']}/label", json={"y": y}).status_code == 200
    assert said["low"] < said["prediction"] < said["high"]
    state = api.get("/v1/learners/icu").json()
    assert set(state["weights"]) <= set(NAMES)
    assert 0 < len(state["support"]) <= 3
    assert (state["n_rounds"], state["n_labels"], state["n_open"]) == (40, 39, 1)
    assert state["spent"] == 2.0 * sum(len(one["sources"]) for one in api.get("/v1/learners/icu/rounds").json())
    assert state["mean_loss"] > 0
    assert state["mean_baseline_loss"] > 0
    assert state["warnings"] == ["1 open round is beyond its deadline"]
    (listed,) = api.get("/v1/learners").json()
    assert listed == {name: state[name] for name in listed}


def test_a_store_that_is_away_is_no_fault_of_the_server(icu, app, monkeypatch):
    def gone(*_):
        raise StoreUnavailable("no route to host 10.0.0.4")

    monkeypatch.setattr(type(app.state.store.database), "reading", gone)
    monkeypatch.setattr(type(app.state.store.database), "writing", gone)
    for answer in (icu.get("/healthz"), icu.get("/v1/learners"), icu.post("/v1/learners/icu/rounds", json={})):
        refused(answer, 503, "the store does not answer; try again")
        assert answer.headers["retry-after"] == "1"


def test_learners_are_made_once(api):
    assert api.get("/v1/learners").json() == []
    assert api.post("/v1/learners", json=ICU).status_code == 201
    assert api.post("/v1/learners", json=ICU).status_code == 201
    refused(api.post("/v1/learners", json=ICU | {"k": 2}), 409, "another configuration")
    assert [one["name"] for one in api.get("/v1/learners").json()] == ["icu"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"algorithm": "nothing"}, "no algorithm 'nothing'"),
        ({"k": 8}, "k must be between 1 and d = 7"),
        ({"names": ["a", "a"]}, "distinct"),
        ({"name": "a/b"}, "a learner's name"),
        ({"name": "a:b"}, "a learner's name"),
        ({"names": None}, "give either d"),
        ({"speed": 3}, "no option 'speed'"),
        ({"algorithm": "thrifty", "prices": {"age": "much"}}, "prices"),
        ({"schema": "[label]"}, "exactly one of names, d and schema"),
        ({"self": 1}, "an option may not be called"),
        ({"d": 10**9}, "less than or equal"),
        ({"seed": -1}, "greater than or equal"),
    ],
)
def test_bad_configurations_are_refused_in_one_sentence(api, change, words):
    refused(api.post("/v1/learners", json=ICU | change), 422, words)
    assert api.get("/v1/learners").json() == []


def test_a_refusal_that_quotes_half_a_character_is_a_refusal(api):
    """JSON can say a lone surrogate; UTF-8, in which the server answers, cannot."""
    body = '{"name": "x", "names": ["a"], "k": 1, "free": ["\\ud800"]}'
    answer = api.post("/v1/learners", content=body, headers={"content-type": "application/json"})
    refused(answer, 422, "'?'")
    assert api.get("/v1/learners").json() == []


def test_a_schema_brings_names_prices_and_the_label(api):
    from keyhole.data.schema import Attribute, Range, Schema

    schema = Schema(Range("bp", 0, 200), (Attribute("age", 0, 90, price=0.5), Attribute("dose", 0, 5, price=7.0)))
    body = {"name": "ward", "algorithm": "thrifty", "schema": schema.to_toml(), "k": 2}
    made = api.post("/v1/learners", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["note"]["label"] == "bp"
    assert api.post("/v1/learners/ward/rounds", json={"available": ["dose"]}).json()["price"] == 7.0


def test_a_schema_with_prices_of_rows_states_the_usual_ones(api, app):
    text = """\
[label]
name = "bp"
[sources.lipids]
price_column = "lipids_eur"
columns = ["ldl", "hdl"]
[attributes.age]
price = 0.5
price_column = "age_eur"
"""
    body = {"name": "ward", "algorithm": "thrifty", "schema": text, "k": 2}
    words = "[sources.lipids]: its usual price is missing; state price beside price_column"
    refused(api.post("/v1/learners", json=body), 422, words)
    body["schema"] = text.replace('price_column = "lipids_eur"', 'price = 12\nprice_column = "lipids_eur"')
    assert api.post("/v1/learners", json=body).status_code == 201
    asked = api.post("/v1/learners/ward/rounds", json={"prices": {"lipids": 9.5}}).json()
    assert asked["price"] == 10.0
    assert api.post("/v1/learners/ward/rounds", json={}).json()["price"] == 12.5
    past = {"names": ["age", "ldl", "hdl"], "rows": [[1, 2, 3], [2, 3, 5]], "labels": [1.0, 2.0]}
    assert api.post("/v1/learners/ward/past_rows", json=past).json()["n_past_rows"] == 2
    for n, table in enumerate(("age,ldl,hdl,bp\n1,2,3,4\n", "age,lipids_eur,ldl,hdl,age_eur,bp\n1,9.5,2,3,,5\n")):
        fields = {"label": (None, "bp"), "learn": (None, "yes"), "table": ("p.csv", table.encode(), "text/csv")}
        assert api.post("/learners/ward/past_rows", files=fields).status_code == 303
        assert app.state.store["ward"].learner().n_past_rows == 3 + n


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/learners/nobody/rounds", {}, 404),
        ("/v1/learners/icu/rounds", {"key": ""}, 422),
        ("/v1/learners/icu/rounds", {"key": "a\u0000"}, 422),
        ("/v1/learners/icu/rounds", {"key": "x" * 201}, 422),
        ("/v1/learners/icu/rounds", {"available": ["nothing"]}, 422),
        ("/v1/learners/icu/rounds", {"kee": "a"}, 422),
        ("/v1/rounds/icu:99/prediction", {"values": {}}, 404),
        ("/v1/rounds/nobody:1/prediction", {"values": {}}, 404),
        ("/v1/rounds/nonsense/label", {"y": 1}, 404),
        ("/v1/rounds/icu:1/prediction", {"values": {"age": 1}}, 422),
        ("/v1/rounds/icu:1/prediction", {"values": "all"}, 422),
        ("/v1/rounds/icu:1/label", {"y": "much", "values": {}}, 422),
        ("/v1/rounds/icu:1/label", {"y": True}, 422),
        ("/v1/rounds/icu:1/label", {"y": 1.0}, 422),
        ("/v1/rounds/icu:1/label", {"y": 1e200}, 422),
    ],
)
def test_what_makes_no_sense_is_a_problem_and_changes_nothing(icu, path, body, status):
    ask(icu, "a")
    before = icu.get("/v1/learners/icu").json()
    refused(icu.post(path, json=body), status)
    assert icu.get("/v1/learners/icu").json() == before


@pytest.mark.parametrize(
    "text", [b"{", b"[1]", b'{"y": NaN}', b'{"y": 1e999}', b"\xff", b'{"y": 1' + b"0" * 400 + b"}"]
)
def test_malformed_bodies_are_problems(icu, text):
    ask(icu, "a")
    answer = icu.post("/v1/rounds/icu:1/label", content=text, headers={"content-type": "application/json"})
    refused(answer, 422 if answer.status_code == 422 else 400)


def test_abandoning_is_a_status(icu):
    r = ask(icu, "a")
    assert icu.post("/v1/rounds/icu:1/abandon").json()["new"] is True
    assert icu.post("/v1/rounds/icu:1/abandon").json()["new"] is False
    assert [one["id"] for one in icu.get("/v1/learners/icu/rounds?status=abandoned").json()] == ["icu:1"]
    values = dict.fromkeys(r["attributes"], 1.0)
    assert icu.post("/v1/rounds/icu:1/label", json={"y": 1.0, "values": values}).json()["new"] is True
    assert icu.get("/v1/rounds/icu:1").json()["status"] == "labelled"


def test_many_labels_each_with_its_outcome(icu):
    for i in range(5):
        r = ask(icu, f"p{i}")
        if i != 4:
            icu.post(f"/v1/rounds/{r['id']}/prediction", json={"values": dict.fromkeys(r["attributes"], 0.1)})
    text = "\ufeffy,key\r\n1.5,p0\n2.5,p1\nmuch,p2\n1,nobody\n1.5,p0\n9,p0\n1,p4\n1\n"
    answer = icu.post("/v1/learners/icu/labels", content=text.encode(), headers={"content-type": "text/csv"}).json()
    assert [line["status"] for line in answer["lines"]] == [
        *("labelled", "labelled", "refused", "refused", "known already", "refused", "refused", "refused")
    ]
    assert [line["line"] for line in answer["lines"]] == list(range(2, 10))
    assert (answer["labelled"], answer["known_already"], answer["refused"]) == (2, 1, 5)
    lines = "\n".join(json.dumps(row) for row in [{"key": "p2", "y": 1}, {"key": 3, "y": 1}, {"key": "p3", "y": "1"}])
    answer = icu.post("/v1/learners/icu/labels", content=lines + "\n{\n").json()
    assert [line["status"] for line in answer["lines"]] == ["labelled", "refused", "refused", "refused"]
    refused(icu.post("/v1/learners/icu/labels", content="a,b\n1,2\n"), 422, "must be 'key,y'")
    refused(icu.post("/v1/learners/icu/labels", content=b"\xff\xfe"), 422, "UTF-8")
    assert icu.get("/v1/learners/icu").json()["n_labels"] == 3


def test_cells_that_look_like_formulas_are_quoted(icu):
    for i in range(6):
        ask(icu, f"=cmd{i}")
    ledger = icu.get("/v1/learners/icu/ledger.csv")
    assert ledger.headers["content-type"].startswith("text/csv")
    assert "attachment" in ledger.headers["content-disposition"]
    for text in (ledger.text, icu.get("/v1/learners/icu/rounds.csv").text):
        assert "'=cmd3" in text
        assert ",=" not in text


@pytest.mark.parametrize(
    ("head", "line"), [("key,y\n", "p{},1\n"), ("", '{{"key": "p{}", "y": 1}}\n')], ids=["CSV", "JSON"]
)
def test_labels_of_one_request_are_limited_in_number(icu, monkeypatch, head, line):
    """Small lines fit by the hundred thousand into a body, and all calls of the learner wait for their transaction."""
    monkeypatch.setattr(routes, "MAX_LINES", 3)
    values = dict.fromkeys(ask(icu, "p0")["attributes"], 0.1)
    icu.post("/v1/rounds/icu:1/prediction", json={"values": values})
    text = head + "".join(line.format(i) for i in range(4))
    refused(icu.post("/v1/learners/icu/labels", content=text), 422, "more than 3 labels in one request")
    assert icu.get("/v1/rounds/icu:1").json()["status"] == "open"
    text = head + "".join(line.format(i) for i in range(3))
    assert icu.post("/v1/learners/icu/labels", content=text).json()["labelled"] == 1


def test_exports_have_every_round_however_many_pages_they_take(icu, monkeypatch):
    monkeypatch.setattr(exports, "_PAGE", 2)
    for i in range(5):
        ask(icu, f"p{i}")
    lines = icu.get("/v1/learners/icu/rounds.csv").text.splitlines()
    assert [line.split(",")[:2] for line in lines[1:]] == [[f"icu:{i + 1}", f"p{i}"] for i in range(5)]


def test_the_model_can_be_taken_away(icu, tmp_path):
    ask(icu, "a")
    (tmp_path / "icu.kh").write_bytes(icu.get("/v1/learners/icu/model").content)
    assert kh.load(tmp_path / "icu.kh").t == 1


def test_metrics_and_health(icu):
    ask(icu, "a")
    text = icu.get("/metrics").text
    assert 'keyhole_rounds_total{learner="icu"} 1.0' in text
    assert 'keyhole_open_rounds{learner="icu"} 1.0' in text
    assert "/v1/learners/{name}/rounds" in text
    assert icu.get("/healthz").json() == {"status": "ok"}


def test_the_documentation_is_served_from_the_package(icu):
    page = icu.get("/docs").text
    assert "/v1/learners/{name}/labels" in page
    assert "http://" not in page.replace("http://127.0.0.1", "")
    assert "https://" not in page
    document = icu.get("/openapi.json").json()
    assert "Problem" in document["components"]["schemas"]


@pytest.mark.parametrize("width", ["names", "d", "schema"])
def test_a_learner_too_large_for_the_server_is_refused_with_the_numbers(api, app, width):
    """However its attributes are given; and nothing is built."""
    app.state.settings = dataclasses.replace(app.state.settings, max_learner_memory=1, max_learner_seconds=0.1)
    d = 300
    table = '[label]\nname = "y"\n' + "".join(f"[attributes.a{i}]\nlow = 0\n" for i in range(d))
    given = {"names": {"names": [f"a{i}" for i in range(d)]}, "d": {"d": d}, "schema": {"schema": table}}[width]
    problem = refused(api.post("/v1/learners", json={"name": "wide", "algorithm": "vaw", **given}), 422)
    assert "this 'vaw' takes about 1.56 MB, 0.002 s to build" in problem["detail"]
    assert "this server allows 1 MB and 0.1 s" in problem["detail"]
    slow = {"name": "slow", "algorithm": "gibbs-thompson", "k": 3, **given}
    refused(api.post("/v1/learners", json=slow), 422, "0.64 s for a slow round")
    assert api.get("/v1/learners").json() == []
    assert api.post("/v1/learners", json={"name": "ok", "algorithm": "aer", "k": 3, **given}).status_code == 201


SHORT = [f"a{i}" for i in range(9000)]
LARGE = {
    "the largest k": {"algorithm": "fixed-random", "d": 100_000, "k": 8500},
    "panels": {"algorithm": "fixed-random", "names": SHORT, "k": 1, "sources": {"all": SHORT[:8500]}},
    "free": {"algorithm": "fixed-random", "names": SHORT, "k": 1, "free": SHORT[:8500]},
    "k0": {"algorithm": "kale2017-greedy", "d": 700, "k": 400, "k0": 300},
    "a support": {"algorithm": "oracle-support", "names": SHORT, "support": SHORT[:8500]},
    "a round": {"algorithm": "thrifty", "d": 30_000, "k": 30_000},
}


@pytest.mark.parametrize("what", LARGE)
def test_what_is_bought_per_row_counts_in_the_size_of_a_learner(api, monkeypatch, what):
    monkeypatch.setattr("keyhole.core.registry.catalogue._built", lambda *_: pytest.fail("it was built"))
    body = LARGE[what]
    problem = refused(api.post("/v1/learners", json={"name": "big", "seed": 0} | body), 422)
    assert re.fullmatch(
        rf"this '{body['algorithm']}' takes about [\d.]+ [MG]B, [\d.e-]+ s to build and [\d.e-]+ s for a slow round; "
        "this server allows 512 MB and 5 s",
        problem["detail"],
    )
    if what == "the largest k":
        assert "takes about 1.2 GB, 0.78 s to build" in problem["detail"]


def test_a_row_may_have_its_own_prices(api):
    prices = dict.fromkeys(NAMES, 2.0)
    assert api.post("/v1/learners", json=ICU | {"algorithm": "thrifty", "k": 7, "prices": prices}).status_code == 201
    assert ask(api, "p1", prices={"age": 9.5})["price"] == 9.5 + 6 * 2.0
    assert ask(api, "p2")["price"] == 14.0
    refused(api.post("/v1/learners/icu/rounds", json={"key": "p3", "prices": {"height": 1.0}}), 422, "not a source")


def test_the_ledger_of_prices_of_rows_is_right_to_the_cent(api):
    usual = dict.fromkeys(NAMES, 0.1)
    body = ICU | {"algorithm": "thrifty", "prices": usual, "error_cost": 5.0, "k0": 1}
    assert api.post("/v1/learners", json=body).status_code == 201
    rng, cents = np.random.default_rng(0), 0
    for row in range(60):
        here = {name: int(rng.integers(0, 100)) for name in NAMES if rng.random() < 0.5}
        r = ask(api, f"p{row}", prices={name: price / 100 for name, price in here.items()})
        paid = sum(here.get(name, 10) for name in (*r["sources"], *r["extra"]))
        assert r["price"] == pytest.approx(paid / 100, abs=1e-12)
        cents += paid
        x = dict(zip(NAMES, rng.normal(size=len(NAMES)).tolist(), strict=True))
        label = {"y": x["age"], "values": {n: x[n] for n in r["attributes"]}, "extra": {n: x[n] for n in r["extra"]}}
        assert api.post(f"/v1/rounds/{r['id']}/label", json=label).status_code == 200
    assert cents > 0
    assert round(100 * api.get("/v1/learners/icu").json()["spent"], 6) == cents


@pytest.mark.parametrize(
    "ranges",
    ["[1", "[" * 200, "5", "[]", '{"age": 5}', '{"age": {"low": "x", "high": 2}}', '{"age": {"low": [], "high": 1}}'],
)
def test_a_note_that_a_client_invented_breaks_no_page(api, ranges):
    """The pages read the usual ranges of attributes from the note of a learner."""
    note = {"ranges": ranges, "label": "\x00<b>", "unit": "\u202e"}
    assert api.post("/v1/learners", json=ICU | {"k": 7, "note": note}).status_code == 201
    ask(api, "a")
    values = {"values": dict.fromkeys(NAMES, 1e9)}
    assert api.post("/v1/rounds/icu:1/prediction", json=values).status_code == 200
    for path in ("/", "/learners/icu", "/learners/icu/figures", "/rounds/icu:1", "/v1/learners/icu"):
        assert api.get(path).status_code == 200, path


def test_prices_whose_sum_is_no_number_are_refused(api):
    body = {"name": "icu", "algorithm": "thrifty", "names": ["a", "b"], "k": 2, "seed": 0}
    for price in (1e308, 10**400):
        refused(api.post("/v1/learners", json=body | {"prices": {"a": 1e308, "b": price}}), 422, "prices must be")
    assert api.post("/v1/learners", json=body | {"prices": {"a": 1e100, "b": 1e100}}).status_code == 201
    refused(api.post("/v1/learners/icu/rounds", json={"prices": {"a": 1e308, "b": 1e308}}), 422, "the price of 'a'")
    assert ask(api, "p", prices={"a": 1e100, "b": 1e100})["price"] == 2e100
    assert api.get("/v1/learners/icu").json()["spent"] == 2e100


def test_invented_methods_are_not_counted_one_by_one(icu, app):
    """Each would be kept for ever: a client without a token could fill the memory."""
    for i in range(40):
        assert icu.request(f"ODD{i}", "/healthz").status_code == 405
    assert "ODD" not in icu.get("/metrics").text
    assert len(app.state.metrics._children) < 10


def test_the_size_of_a_learner_is_said_before_it_is_built(api, app):
    """For every algorithm the numbers of kh.footprint; what is not allowed is what creating it would refuse."""
    app.state.settings = dataclasses.replace(app.state.settings, max_learner_memory=100)
    for algorithm in kh.list_algorithms():
        for d in (3, 6000, 100_000):
            said = api.get("/v1/footprint", params={"algorithm": algorithm.name, "d": d, "k": 2}).json()
            size = kh.footprint(algorithm.name, d, 2)
            numbers = (size.memory, size.build_seconds, size.round_seconds)
            assert (said["memory"], said["build_seconds"], said["round_seconds"]) == numbers
            assert said["allowed"] is (size.memory <= 100e6 and max(numbers[1:]) <= 5)
    assert api.get("/v1/footprint", params={"algorithm": "vaw", "d": 6000}).json()["allowed"] is False
    refused(api.get("/v1/footprint", params={"algorithm": "nothing", "d": 3}), 422, "no algorithm 'nothing'")
    refused(api.get("/v1/footprint", params={"algorithm": "vaw", "d": 10**9}), 422, "d: ")
    assert api.get("/v1/learners").json() == []


def test_the_requests_of_the_recipe_run_as_printed(api):
    """And answer what the page shows: what stands between the dots of an answer occurs in it, in this order."""
    page = (Path(__file__).parents[3] / "docs" / "recipes" / "serve.md").read_text(encoding="utf-8")
    block = next(text for text in page.split("```") if "$ curl" in text).replace("\\\n", "")
    commands = block.split("$ curl ")[1:]
    assert len(commands) == 4
    for command in commands:
        request, *shown = command.splitlines()
        url, _, header, _, data = shlex.split(request)
        assert url.startswith("http://127.0.0.1:8765/")
        answer = api.post(url, content=data, headers=dict([header.split(": ")]))
        assert answer.status_code in (200, 201), answer.text
        for part in "".join(shown).split("..."):
            assert part.strip(", {}") in answer.text


def test_a_body_that_is_not_json_and_a_k_beyond_d_are_refused_in_words(api):
    answer = api.post("/v1/learners", content='{"name" ', headers={"content-type": "application/json"})
    refused(answer, 422, "the body: it is not JSON")
    refused(api.get("/v1/footprint?algorithm=thrifty&d=3&k=9"), 422, "k must be between 1 and d = 3; it is 9")

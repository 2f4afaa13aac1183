"""SECURITY.md line by line: each promise names the tests that hold it, and those tests exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text()

PROMISES = {
    "they are read as data only; a fault is one sentence": ["fuzz/test_corpus.py", "unit/data/test_odd_files.py"],
    "names are escaped wherever they are shown": [
        "unit/_internal/test_escaping.py::test_html_is_escaped_too",
        "unit/service/test_security.py::test_a_browser_is_told_to_run_nothing_inline",
        "unit/service/test_routes.py::test_cells_that_look_like_formulas_are_quoted",
    ],
    "width and expansion are limited": [
        "unit/data/test_file_limits.py::test_a_header_of_a_million_names_is_refused_before_it_is_parsed",
        "unit/data/test_file_limits.py::test_a_gzip_bomb_is_refused_and_the_flag_lifts_the_limit",
        "unit/data/test_file_limits.py::test_the_flag_of_the_command_line",
    ],
    "every field is checked before the first row is read": [
        "unit/data/test_schema_files.py",
        "laws/test_schema_laws.py",
    ],
    "an error leaves the learner as it was": [
        "unit/store/test_store.py::test_bad_input_is_a_protocol_error_and_no_event",
        "fuzz/test_corpus.py",
    ],
    "nothing in them is executed; every count": ["battery/test_forged.py"],
    "they are limited in size and in time, connections are limited in number": [
        "unit/service/test_security.py::test_bodies_are_limited_however_they_come",
        "unit/service/test_server.py::test_a_half_request_is_ended_after_the_timeout",
        "unit/service/test_server.py::test_half_requests_do_not_keep_others_from_being_served",
        "unit/service/test_server.py::test_a_client_that_does_not_read_is_given_up",
    ],
    "every refusal is one sentence that changes nothing": [
        "unit/service/test_hostile.py::test_hostile_bodies",
        "unit/service/test_hostile.py::test_hostile_headers",
        "unit/service/test_hostile.py::test_hostile_paths_and_queries",
        "unit/service/test_schemathesis.py::test_nothing_is_a_server_error",
    ],
    "needs more memory or time than the server allows is refused with the numbers": [
        "unit/service/test_routes.py::test_a_learner_too_large_for_the_server_is_refused_with_the_numbers"
    ],
    "yes, with a token that may create": ["unit/service/test_security.py::test_a_token_may_what_it_may_and_no_more"],
    "checksums find damage, but not a forger": [
        "unit/store/test_verify.py::test_damage_is_found",
        "unit/store/test_damage.py::test_torn_pages_get_a_verdict",
    ],
    "they act with your rights": [],
    "No pickle is read or written anywhere": ["docs/test_security.py::test_the_package_does_not_use_pickle"],
    "listens on the loopback address unless another is given": [
        "unit/cli/test_serve.py::test_the_line_says_what_there_is"
    ],
    "answers only to names of this": [
        "unit/service/test_security.py::test_without_tokens_only_this_machine_is_answered"
    ],
    "It refuses to start on another address while the store has no token": [
        "unit/cli/test_serve.py::test_serve_refuses_what_would_be_open_to_everybody",
        "unit/cli/test_serve.py::test_who_has_a_token_or_says_so_may_be_reached_from_elsewhere",
    ],
    "Only a hash of a token is stored": [
        "unit/service/test_security.py::test_only_a_hash_is_stored_and_a_revoked_token_opens_nothing"
    ],
    "Tokens appear in no log, no answer and no address": ["journeys/test_store_holds.py::test_tokens_are_never_shown"],
    "compared in constant": ["docs/test_security.py::test_secrets_are_compared_in_constant_time"],
    "Pages run no inline scripts": [
        "unit/service/test_security.py::test_a_browser_is_told_to_run_nothing_inline",
        "unit/service/test_security.py::test_no_other_site_can_post",
    ],
    "never delete or overwrite a file that keyhole did not write": ["journeys/test_not_ours.py"],
    "do not write through links": [
        "journeys/test_runs_hold.py::test_a_link_in_a_folder_of_results_is_not_written_through"
    ],
    "any other version are refused": ["unit/store/test_verify.py::test_a_store_of_another_version_is_refused"],
}


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_stands_in_the_page_and_has_its_tests(promise):
    assert promise in re.sub(r"\s+", " ", TEXT)
    for test in PROMISES[promise]:
        file, _, name = test.partition("::")
        source = (ROOT / "tests" / file).read_text()
        assert f"def {name or 'test_'}" in source, test


def test_every_line_of_the_page_is_in_the_list():
    """A new row or item needs a promise here, or it would be untested."""
    lines = [line for line in TEXT.splitlines() if line.startswith(("| ", "- ")) and not line.startswith("| input")]
    flat = re.sub(r"\s+", " ", TEXT)
    items = [flat[flat.index(line) :].split(" - ")[0].split(" | |")[0] for line in lines if line in flat]
    assert len(items) == len(lines)
    for item in items:
        assert any(promise in item for promise in PROMISES), item


def test_the_package_does_not_use_pickle():
    found = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {name.split(".")[0] for name in names} & {
                "pickle",
                "cPickle",
                "dill",
                "shelve",
                "marshal",
                "cloudpickle",
            }:
                found.append(path)
            if (
                isinstance(node, ast.keyword)
                and node.arg == "allow_pickle"
                and getattr(node.value, "value", 0) is not False
            ):
                found.append(path)
    assert found == []


def test_secrets_are_compared_in_constant_time(sqlite_url, monkeypatch):
    """A wrong token goes through the same comparison as a right one, also where its id does not exist."""
    import keyhole as kh
    from keyhole.store import tokens

    compared = []
    real = tokens.hmac.compare_digest
    monkeypatch.setattr(tokens.hmac, "compare_digest", lambda a, b: compared.append((len(a), len(b))) or real(a, b))
    with kh.open_store(sqlite_url) as store:
        right = tokens.create_token(store.database, None, ("read",))
        other = right[:-1] + ("A" if right[-1] != "A" else "B")
        unknown = "kh_" + "0" * 12 + right[15:]
        assert [tokens.find_token(store.database, text) is not None for text in (right, other, unknown)] == [
            True,
            False,
            False,
        ]
    assert compared == [(64, 64)] * 3

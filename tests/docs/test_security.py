"""SECURITY.md line by line: each promise names the tests that hold it, and those tests exist."""

import ast
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import keyhole as kh
from keyhole import runs
from keyhole._internal import atomic_io
from keyhole.core.serialization import pack, unpack
from keyhole.experiments import frontier_result
from keyhole.store.database import SCHEMA_VERSION

from ..unit.runs.test_lifecycle import Silent

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text()

# A clause of a row of the table, or a sentence below it -> the tests that would fail if it were false.
PROMISES = {
    "they are read as data only": [
        "fuzz/test_corpus.py::test_nothing_is_found",
        "unit/service/test_routes.py::test_cells_that_look_like_formulas_are_quoted",
    ],
    "a fault is one sentence with its place": ["unit/data/test_odd_files.py", "unit/test_errors.py"],
    "names are escaped wherever they are shown": [
        "unit/_internal/test_escaping.py::test_html_is_escaped_too",
        "unit/_internal/test_escaping.py::test_nothing_that_is_shown_is_hidden_or_obeyed",
        "journeys/test_everything_goes_wrong.py",
        "unit/service/test_security.py::test_a_browser_is_told_to_run_nothing_inline",
    ],
    "width and expansion are limited (`keyhole --large-files` lifts that)": [
        "unit/data/test_file_limits.py::test_a_header_of_a_million_names_is_refused_before_it_is_parsed",
        "unit/data/test_file_limits.py::test_a_gzip_bomb_is_refused_and_the_flag_lifts_the_limit",
        "unit/data/test_file_limits.py::test_a_parquet_file_of_rows_that_take_no_room_is_refused",
        "unit/data/test_file_limits.py::test_a_long_text_in_every_row_of_a_parquet_file_is_refused_before_it_is_written_out",
        "unit/data/test_file_limits.py::test_the_flag_of_the_command_line",
    ],
    "every field is checked before the first row is read": [
        "unit/data/test_schema_files.py::test_a_wrong_line_is_one_sentence_with_its_place",
        "laws/test_schema_laws.py",
    ],
    "they are checked before anything changes": [
        "unit/store/test_store.py::test_bad_input_is_a_protocol_error_and_no_event"
    ],
    "an error leaves the learner as it was": [
        "unit/store/test_store.py::test_a_transaction_that_fails_leaves_nothing_here_or_there",
        "fuzz/test_corpus.py::test_nothing_is_found",
    ],
    "nothing in them is executed": ["battery/test_forged.py::test_forged_files_are_refused_or_work"],
    "every count, index, shape and number is checked against the configuration": [
        "battery/test_forged.py::test_forged_files_are_refused_or_work",
        "battery/test_forged.py::test_a_number_everywhere_in_an_array_is_refused_or_harmless",
        "battery/test_forged.py::test_a_count_that_is_none_is_refused",
    ],
    "memory is bounded": [
        "battery/test_forged.py::test_a_size_that_is_only_claimed_is_never_built",
        "battery/test_forged.py::test_a_packed_file_is_not_unpacked",
        "battery/test_forged.py::test_members_that_share_their_bytes_are_not_read",
    ],
    "they are limited in size and in time": [
        "unit/service/test_past_rows_page.py::test_a_hundred_thousand_names_take_seconds_of_the_processor_and_not_minutes",
        "unit/service/test_security.py::test_bodies_are_limited_however_they_come",
        "unit/service/test_server.py::test_a_half_request_is_ended_after_the_timeout",
        "unit/service/test_server.py::test_a_request_that_drips_is_ended_after_the_timeout",
        "unit/service/test_server.py::test_a_client_that_does_not_read_is_given_up",
    ],
    "connections are limited in number": [
        "unit/service/test_server.py::test_half_requests_do_not_keep_others_from_being_served",
        "unit/service/test_server.py::test_where_every_connection_is_at_work_a_new_one_is_refused",
        "unit/service/test_server.py::test_connections_leave_the_descriptors_that_the_server_needs",
    ],
    "every refusal is one sentence that changes nothing": [
        "unit/service/test_hostile.py::test_hostile_bodies",
        "unit/service/test_hostile.py::test_hostile_headers",
        "unit/service/test_hostile.py::test_hostile_paths_and_queries",
        "unit/service/test_schemathesis.py::test_nothing_is_a_server_error",
    ],
    "a learner that needs more memory or time than the server allows is refused with the numbers": [
        "unit/service/test_routes.py::test_a_learner_too_large_for_the_server_is_refused_with_the_numbers",
        "unit/service/test_routes.py::test_what_is_bought_per_row_counts_in_the_size_of_a_learner",
        "unit/service/test_security.py::test_a_token_may_what_it_may_and_no_more",
    ],
    "checksums find damage, but not a forger who can write there": [
        "unit/store/test_verify.py::test_damage_is_found",
        "unit/store/test_damage.py::test_torn_pages_get_a_verdict",
        "unit/store/test_byte_flips.py::test_a_store_with_changed_bytes_is_found_damaged_or_answers_as_before",
        "docs/test_security.py::test_damage_to_a_run_folder_is_found",
    ],
    "notes, times of creation and tokens have no checksum, only their form is checked": [
        "unit/store/test_damage.py::test_an_odd_value_in_any_column_is_found"
    ],
    "they act with your rights": [],  # what they could do otherwise is nothing that we prevent
    "No pickle is read from a file or a request, and none is written to a file": [
        "docs/test_security.py::test_the_package_does_not_use_pickle"
    ],
    "The processes of one command (`--jobs`, `--executor dask`) send pickles to each other, so name only a Dask "
    "cluster that you trust, by `tls://`": ["unit/experiments/test_executors.py"],
    "`keyhole serve` listens on the loopback address unless another is given": [
        "unit/cli/test_serve.py::test_the_line_says_what_there_is"
    ],
    "There, without tokens, it answers only to names of this machine": [
        "unit/service/test_security.py::test_without_tokens_only_this_machine_is_answered"
    ],
    "It refuses to start on another address while the store has no token, unless `--no-auth` is given": [
        "unit/cli/test_serve.py::test_serve_refuses_what_would_be_open_to_everybody",
        "unit/cli/test_serve.py::test_who_has_a_token_or_says_so_may_be_reached_from_elsewhere",
    ],
    "TLS is left to a proxy": [],  # it says what we do not do
    "Only a hash of a token is stored": [
        "unit/service/test_security.py::test_only_a_hash_is_stored_and_a_revoked_token_opens_nothing",
        "journeys/test_store_holds.py::test_tokens_are_never_shown",
    ],
    "Tokens appear in no log, in no address and in no answer, except as the cookie of a person who signs in, which no "
    "script can read": ["journeys/test_store_holds.py::test_tokens_are_never_shown"],
    "They are compared in constant time": ["docs/test_security.py::test_secrets_are_compared_in_constant_time"],
    "A revoked token gives no access, and the event streams that it opened end within 5 seconds": [
        "unit/service/test_security.py::test_only_a_hash_is_stored_and_a_revoked_token_opens_nothing",
        "unit/service/test_event_stream.py::test_a_stream_ends_when_its_token_is_revoked",
    ],
    "Pages run no inline scripts, load nothing from other hosts, and accept no requests from pages of other sites": [
        "unit/service/test_security.py::test_a_browser_is_told_to_run_nothing_inline",
        "unit/service/test_security.py::test_no_other_site_can_post",
        "journeys/test_ward.py::test_the_page_of_a_learner_is_alive_and_sound",
    ],
    "Commands never delete or overwrite a file that keyhole did not write, unless you name that file and add "
    "`--force`": ["journeys/test_not_ours.py"],
    "Links in a folder of results are not followed": [
        "journeys/test_runs_hold.py::test_a_link_in_a_folder_of_results_is_not_written_through",
        "journeys/test_not_ours.py::test_a_link_in_the_place_of_a_subfolder_is_not_followed",
    ],
    "All file formats have version 1": ["docs/test_security.py::test_files_of_another_version_are_refused"],
    "files and stores of any other version are refused with one sentence": [
        "docs/test_security.py::test_files_of_another_version_are_refused",
        "unit/store/test_verify.py::test_a_store_of_another_version_is_refused",
        "unit/core/test_serialization.py",
    ],
}


def promises_of_the_page():
    """The clauses of the last column of the table, the sentences of the list, and that about versions."""
    rows = [line.strip("| ").split(" | ")[-1] for line in TEXT.splitlines() if line.startswith("| ")]
    flat = re.sub(r"\s+", " ", TEXT[TEXT.index("\n- ") : TEXT.index("We do not promise")])
    versions = re.sub(r"\s+", " ", TEXT[TEXT.index("All file formats") :])
    return [
        *(clause for row in rows[1:] for clause in row.split("; ")),
        *(sentence.rstrip(".") for item in flat.split(" - ")[1:] for sentence in item.strip().split(". ")),
        *versions.strip(" .").split("; "),
    ]


def test_every_sentence_of_the_page_has_its_tests():
    assert promises_of_the_page() == list(PROMISES)


def running_tests(path):
    """The test functions of a file that pytest collects and that nothing skips whatever the machine."""
    assert re.fullmatch(r"test_\w+\.py", path.name)
    tree = ast.parse(path.read_text())
    words = [ast.unparse(node) for node in tree.body if not isinstance(node, ast.FunctionDef)]
    if any(ALWAYS_SKIPPED.search(text) for text in words):
        return []
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}  # the last one counts
    return [
        name
        for name, node in found.items()
        if name.startswith("test_")
        and not any(ALWAYS_SKIPPED.match(ast.unparse(mark)) for mark in node.decorator_list)
        and not any(ALWAYS_SKIPPED.match(ast.unparse(line)) for line in node.body)
    ]


ALWAYS_SKIPPED = re.compile(r"(pytestmark = \[?)?pytest\.(mark\.)?(skip\b|skipif\(True|xfail\b)")


@pytest.mark.parametrize("test", sorted({test for tests in PROMISES.values() for test in tests}))
def test_the_tests_of_a_promise_are_collected_and_not_skipped(test):
    file, _, name = test.partition("::")
    found = running_tests(ROOT / "tests" / file)
    assert name in found if name else found


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("def test_a(): pass", True),
        ("@pytest.mark.slow\n@pytest.mark.skipif(sys.platform == 'win32', reason='')\ndef test_a(): pass", True),
        ("@pytest.mark.skip(reason='later')\ndef test_a(): pass", False),
        ("@pytest.mark.skip\ndef test_a(): pass", False),
        ("@pytest.mark.skipif(True, reason='')\ndef test_a(): pass", False),
        ("def test_a():\n    pytest.skip('later')", False),
        ("pytestmark = pytest.mark.skip\ndef test_a(): pass", False),
        ("pytest.skip('later', allow_module_level=True)\ndef test_a(): pass", False),
        ("def helper():\n    def test_a(): pass", False),
    ],
)
def test_a_test_that_never_runs_holds_no_promise(tmp_path, text, runs):
    (tmp_path / "test_it.py").write_text(f"import pytest\n{text}\n")
    assert running_tests(tmp_path / "test_it.py") == ["test_a"] * runs


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A small finished run."""
    root = tmp_path_factory.mktemp("run")
    X, y, _ = kh.streams.synthetic(4, 2, 120, seed=4)
    columns = {f"x{i}": X[:, i] for i in range(4)} | {"y": np.clip(y, -1, 1)}
    pq.write_table(pa.table(columns), root / "a.parquet")
    plan = runs.prepare(runs.RunConfig(root / "a.parquet", "y", k=2, algorithm="fixed-random"))
    assert runs.begin(plan, root / "out", Silent(), lambda *_: None)
    return root / "out"


@pytest.mark.parametrize(
    "name", ["rounds.parquet", "ledger.parquet", "model.kh", "run.json", "summary.json", ".keyhole.json"]
)
def test_damage_to_a_run_folder_is_found(run_folder, tmp_path, name):
    out = tmp_path / "out"
    shutil.copytree(run_folder, out)
    runs.find(out)
    data = bytearray((out / name).read_bytes())
    data[len(data) // 2] ^= 1
    (out / name).write_bytes(data)
    with pytest.raises((kh.ConfigError, kh.StateError), match=re.escape(name)) as fault:
        runs.find(out)
    assert "\n" not in str(fault.value)


def test_files_of_another_version_are_refused(run_folder, tmp_path):
    """Formats start at 1, and each says its version; a store and its export: in test_verify."""
    settings = atomic_io.read_json(run_folder / "run.json")
    header, arrays = unpack((run_folder / "model.kh").read_bytes())
    assert settings["format"] == header["format"] == frontier_result._FORMAT == SCHEMA_VERSION == 1
    for version in (0, 2, None, "1"):
        (tmp_path / "model.kh").write_bytes(pack(header | {"format": version}, arrays))
        atomic_io.write_json(tmp_path / "run.json", settings | {"format": version})
        atomic_io.write_json(tmp_path / "frontier.json", {"format": version})
        for read in (
            lambda: kh.load(tmp_path / "model.kh"),
            lambda: runs.Settings.read(tmp_path / "run.json"),
            lambda: kh.experiments.frontier_in(tmp_path),
        ):
            with pytest.raises((kh.ConfigError, kh.StateError), match="format|version") as fault:
                read()
            assert "\n" not in str(fault.value)


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

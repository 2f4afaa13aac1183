"""Journey 3: the theorist asks for bounds, as typed."""

import xml.etree.ElementTree as ET

SETTING = [
    "--d",
    "20",
    "--k",
    "5",
    "--sigma",
    "0.1",
    "--delta-s",
    "0.5",
    "--w-min",
    "0.1",
    "--delta",
    "1e-6",
    "--T",
    "1e6",
]


def test_the_bound_is_taken_apart_and_called_what_it_is(typed):
    code, text, _ = typed("bounds", "ds-oslrc", *SETTING)
    assert code == 0
    for said in ("s0 1.3e+08", "s1 1.31e+10", "s2 2.96e+10", "needs T > 8.76e+20: not met at T = 1e+06", "2.04e+19"):
        assert said in text
    total = next(line for line in text.splitlines() if line.strip().startswith("total"))
    assert "vacuous (predicting 0 costs at most about 1e+06)" in total
    for term in ("exploration", "newton", "middle", "late"):
        assert f"   {term}" in text
    for other in ("ito2017-2", "ito2017-3", "kale2017-dantzig", "foster2016", "lower-regret", "best-sparse"):
        line = next(line for line in text.splitlines() if line.startswith(other))
        assert float(line.split()[1].lstrip("~")) > 0
    negative = next(line for line in text.splitlines() if line.startswith("ds-poslrc "))
    assert negative.split()[1] == "-"  # Theorem 2 has no positive value at such T: that is no bound to print
    assert "k0 = 5 stands in (--k0)" in text
    assert "stands in (--k0)" not in typed("bounds", "ds-oslrc", *SETTING, "--k0", "4")[1]


def test_where_no_T_will_do_it_says_why(typed):
    _, out, _ = typed("bounds", "ds-oslrc", *SETTING)
    assert (
        "valid and not vacuous at no T (delta chosen for each T to fail with 0.05); late: Theorem 1 needs s2 > s1"
        in out
    )


def test_corrected_it_is_useful_from_some_T_on(typed):
    _, out, _ = typed("bounds", "ds-oslrc", *SETTING, "--corrected")
    assert "valid and not vacuous from T = 7.06e+21 on" in out
    assert "hidden" not in out


def test_a_sweep_prints_a_table_and_draws_it(keyhole, typed, tmp_path):
    words = ("bounds", "--k0", "5", "--sweep", "T=1e4..1e24", "--out", "bounds.svg")
    lines = keyhole(*words).stdout.splitlines()
    assert [line.split()[0] for line in lines[1:22]] == [f"1e+{e:02d}" for e in range(4, 25)]
    assert {"ds-oslrc", "ds-poslrc", "kale2017-dantzig", "foster2016", "lower-regret"} <= set(lines[0].split())
    assert lines[1].split()[-5] == "-"  # Theorem 2 is negative there
    assert lines[5].split()[-5].endswith("*")  # and not yet made for such T here
    assert "* the theorem does not apply to these numbers" in "\n".join(lines)
    names = ET.parse(tmp_path / "bounds.svg").getroot().iter("{http://www.w3.org/2000/svg}text")
    assert {"ds-oslrc", "predict"} & {word for node in names for word in (node.text or "").split()}
    code, _, told = typed(*words)
    assert (code, "exists" in told) == (2, True)
    assert typed(*words, "--force")[0] == 0


def test_a_wrong_letter_is_one_sentence_and_exit_2(typed):
    for words, said in (
        (("--k", "25"), "between 1 and d - 1 = 19"),
        (("--d", "-3"), "must be at least 2, not -3"),
        (("--sigma", "-1"), ">= 0, not -1"),
        (("--w-min", "3"), "(0, 1]"),
        (("nothing",), "there is no bound 'nothing'"),
        (("--sweep", "T=9..3"), "FROM < TO"),
        (("--sweep", "x=1..3"), "LETTER=FROM..TO"),
        (("ds-poslrc", "--k0", "2"), "at least 3"),
        (("--delta", "2"), "strictly between 0 and 1"),
        (("--out", "a.svg"), "--sweep"),
        (("ds-oslrc", "--sweep", "T=9..3"), "FROM < TO"),
        (("ds-oslrc", "--sweep", "T=1e4..1e6", "--out", "a.png"), "the figure is an SVG: --out a.svg"),
    ):
        code, out, told = typed("bounds", *words)
        assert (code, out) == (2, "")
        assert said in told
        assert told.count("\n") == 1

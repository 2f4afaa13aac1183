"""docs/measured.md was made by these learners: where one predicts otherwise now, the chapter must be made again."""

import re
from pathlib import Path

import pytest

from keyhole.experiments.study import Experiment, algorithms_of, learners_digest, names

PAGE = Path(__file__).parents[2] / "docs" / "measured.md"


@pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning")
def test_the_chapter_is_of_these_learners():
    text = PAGE.read_text(encoding="utf-8")
    titles = re.findall(r"^## (.+)$", text, re.M)
    played = [name for name in names() if Experiment(name).title in titles]
    assert len(played) == len(titles)
    stated = re.search(r"Digest of the learners played: `(\w+)`(?:, without ([\w-]+))?", text)
    assert stated, "docs/measured.md has no digest of its learners: make measured"
    same = [name for name in algorithms_of(played) if name != stated[2]]  # the page says of which its rows are older
    assert stated[1] == learners_digest(same), "a learner of docs/measured.md predicts otherwise: make measured"

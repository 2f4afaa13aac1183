"""The site as it is built: no warning, every link leads somewhere, nothing comes from outside, search works offline."""

import resource
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


class Links(HTMLParser):
    """What a page points at, what it fetches, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.fetched, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if found.get("src"):
            self.fetched.append(found["src"])
        if tag == "link" and found.get("href") and found.get("rel") not in ("canonical", "next", "prev"):
            self.fetched.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out, before = tmp_path_factory.mktemp("site"), resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", ROOT / "docs", out]
    done = subprocess.run(list(map(str, call)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)  # a machine that is busy with other things is not our fault
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 180
    return {page.relative_to(out): Links(page.read_text(encoding="utf-8")) for page in out.rglob("*.html")}, out


def test_every_link_and_anchor_leads_somewhere(site):
    pages, out = site
    for page, links in pages.items():
        for link in links.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (out / page.parent / unquote(parts.path)).resolve() if parts.path else (out / page).resolve()
            assert target.exists(), f"{page}: {link}"
            if parts.fragment and target.suffix == ".html":
                places = pages[target.relative_to(out.resolve())].places
                assert unquote(parts.fragment) in places, f"{page}: {link}"


def test_nothing_is_fetched_from_outside(site):
    for page, links in site[0].items():
        assert not [x for x in links.fetched if urlsplit(x).scheme in ("http", "https")], page


def test_search_and_the_list_for_machines_are_there(site):
    _, out = site
    assert "thrifty" in (out / "searchindex.js").read_text(encoding="utf-8")
    text = (out / "llms.txt").read_text(encoding="utf-8")
    assert "import keyhole as kh" in text
    for name in ("five-minutes.html", "algorithms/thrifty.html", "reference/http.html"):
        assert name in text

"""The site is built strictly, is whole, and needs neither a server nor a network."""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest

import ragmetrics_core
from tests.report.conftest import FLAGS, NAMES

for package in ("latex2mathml", "material", "mkdocstrings"):
    pytest.importorskip(package, reason="the extra docs is not installed")

ROOT = Path(__file__).resolve().parents[2]
FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "benchmarks", "docs", "examples", "mkdocs.yml")


class Content(NamedTuple):
    """What a page loads, where it leads, and the places in it."""

    loads: set[str]
    leads: set[str]
    places: set[str]


class Reader(HTMLParser):
    """Collects the content of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.content = Content(set(), set(), set())

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.content.places.add(given.get("id") or given.get("name", ""))
        if tag == "a":
            self.content.leads.add(given.get("href", ""))
        elif tag != "link" or given.get("rel") not in {"canonical", "next", "prev"}:
            self.content.loads.update(
                given[name] for name in ("src", "href", "srcset", "data") if name in given
            )


def content(path: Path) -> Content:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.content


def build(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(out)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does."""
    out = tmp_path_factory.mktemp("site")
    done = build(ROOT, out)
    assert done.returncode == 0, done.stderr
    return out


def test_pages_load_nothing_from_another_host(site: Path):
    loads = {each for path in site.rglob("*.html") for each in content(path).loads}
    loads |= {each for path in site.rglob("*.css") for each in re.findall(r"url\((.*?)\)", path.read_text())}
    assert len(loads) > 20
    assert {each for each in loads if urlsplit(each.strip("\"'")).scheme not in {"", "data"}} == set()
    assert {each for each in loads if each.startswith("//")} == set()


def test_the_home_starts_with_what_it_is_and_how_to_install_it(site: Path):
    page = (site / "index.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]*>", "", page[page.index("<h1") : page.index("<img", page.index("<h1"))])
    what, install, code = map(text.index, ("evaluates retrieval-augmented", "pip install", "import evaluate"))
    assert what < 50
    assert what < install < code


def test_every_link_leads_to_a_page_and_to_a_place_in_it(site: Path):
    pages = {path.resolve(): content(path) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # it may be shown for any address, and names its links from the root
        for link in page.leads:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists() or (
                parts.fragment and unquote(parts.fragment) not in pages[target].places
            ):
                broken.append((path.name, link))
    assert len(pages) > 60
    assert broken == []


def test_the_reference_has_every_name_of_the_public_face(site: Path):
    page = (site / "reference.html").read_text(encoding="utf-8")
    named = set(re.findall(r'<h3 id="ragmetrics_core\.(?:\w+\.)*(\w+)"', page))
    assert set(ragmetrics_core.__all__) <= named


def test_the_front_page_shows_a_proof_as_a_picture_and_as_text(site: Path):
    page = (site / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<img [^>]*src="pictures/\w[\w-]*\.png"', page)
    assert "ragmetrics" in page[page.index("<h1") :]


def test_a_formula_is_mathml_and_needs_no_script(site: Path):
    page = (site / "metrics" / "ndcg.html").read_text(encoding="utf-8")
    assert re.search(r'<div class="formula"><math .*<mfrac>.*</math></div>', page)


def test_a_link_or_an_anchor_that_leads_nowhere_stops_the_build(tmp_path: Path):
    for name in FILES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    with (tmp_path / "docs" / "live.md").open("a", encoding="utf-8") as page:
        page.write("\n[a page](no_page.md), [a place](runs.md#no-place), [a file](../examples/no_file.py)\n")

    done = build(tmp_path, tmp_path / "site")

    assert done.returncode == 1
    for wrong in ("no_page.md", "no-place", "no_file.py"):
        assert f"{wrong}'" in done.stderr


def test_a_reader_without_a_network_searches_the_site_and_sees_it_in_the_dark(site: Path):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("RAGMETRICS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("there is no chromium on the PATH; install it, or name one in RAGMETRICS_CHROMIUM")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=FLAGS)
        page = browser.new_context(color_scheme="dark").new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())  # from its folder, without a server
        assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"

        page.locator("input.md-search__input").fill("citation")
        # the page itself: others name it too, in sections that their result does not show at once
        page.locator("a.md-search-result__link[href*='/metrics/citation_recall.html']").first.click()
        page.wait_for_url("**/metrics/citation_recall.html*")
        browser.close()
    assert [each for each in asked if urlsplit(each).scheme not in {"file", "data", "blob"}] == []

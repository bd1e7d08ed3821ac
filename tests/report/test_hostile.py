"""Hostile data in every field: nothing runs, nothing leaves the page, and the page still works."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Record, Run, Sample, write_report
from ragmetrics_core.protocol import Generate
from ragmetrics_core.runs._folder import Folder
from tests.lines import plain
from tests.report.conftest import scripted

HOSTILE = {
    "script": "<script>window.ran=1</script>",
    "handler": '"><img src=x onerror="window.ran=1"><b onmouseover=window.ran=1>',
    "closing": "</script><script>window.ran=1</script><!--",
    "link": "javascript:window.ran=1",
    "anchor": '<a href="javascript:window.ran=1" autofocus onfocus=window.ran=1>x</a>',
    "svg": '<svg onload="window.ran=1"><image href="http://example.org/x.png"/></svg>',
    "css": "</style><style>*{background:url(http://example.org/leak)}</style>",
    "style": '" style="background:url(http://example.org/leak)" x="',
    "frame": '<iframe srcdoc="<script>parent.ran=1</script>"></iframe>',
    "refresh": '<meta http-equiv=refresh content="0;url=http://example.org">',
    "entity": "&lt;img src=x onerror=window.ran=1&gt; &#60;script&#62;",
    "template": "${window.ran=1} {{constructor.constructor('window.ran=1')()}} %(x)s {0}",
    "nulls": "a\x00b\x01c\x1b[31md\x7f",
    "bidi": "user\u202egnp.exe \u2066isolate\u2069 \u2028line",
    "proto": "__proto__",
    "hash": "#sample=x&metric=<script>",
    "mathtext": r"$\frac{1}{0}$ \input{/etc/passwd}",
    "rtl": "مرحبا بالعالم! שלום עולם.",
    "cjk": "日本語のテキスト。中文文本。",
    "emoji": "👩‍👩‍👧‍👦 zero\u200bwidth 𝒳",
}


@pytest.fixture(scope="session")
def hostile(tmp_path_factory) -> Path:
    """A report of a run in which every text of the data, of the replies and of the names is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    samples: list[dict[str, Any]] = [
        {
            "id": text,
            "question": text,
            "answer": f"{text} {text}",
            "contexts": [text, f"Before. {text} After."],
            "context_ids": [text, text],
            "reference": text,
            "history": [
                {
                    "role": text,
                    "content": text,
                    "contexts": [text],
                    "tool_calls": [{"name": text, "arguments": text}],
                }
            ],
            "session": text,
            "turn": 1,
            "standalone": f"{text}?",
            "labels": {text: text, "kind": text},
        }
        for text in HOSTILE.values()
    ]

    def reply(request: Generate[Any]) -> Any:
        if request.prompt.name == "statements":
            text = str(request.variables["question"])
            return {"statements": [text, f"{text} again"], "declined": False}
        text = request.variables["contexts"][0]
        return {
            "verdicts": [
                {"number": 1, "reason": f"it says {text}", "evidence": text, "verdict": "yes"},
                {"number": 2, "reason": f"it says {text}", "evidence": f"nowhere {text}", "verdict": "no"},
            ]
        }

    run = scripted([Sample(**sample) for sample in samples], reply, folder / "run")
    assert len(run) == len(HOSTILE)
    renamed = _renamed(folder / "run", HOSTILE["closing"] + HOSTILE["handler"] + HOSTILE["mathtext"])
    return write_report(Run.load(renamed), folder / "report.html")


def _renamed(run: Path, name: str) -> Path:
    """A run with hostile names of metric, models, notes and reasons, sealed by whoever made the folder."""
    made = Folder.open(run)
    manifest = made.manifest
    entry = manifest.metrics[0].model_copy(update={"signature": name, "name": name})
    named = {"judge": name, "notes": (name,), "versions": {name: name}}
    records = []
    for line in (run / "records.jsonl").read_bytes().splitlines():
        record = plain(line) | named | {"metric": name, "signature": name, "settings": {name: name}}
        record.update(formula=name, counts={name: 1})
        for step in record["steps"]:
            step.update(prompt=name, model=name, rule=name, finish_reason=name, dropped=[name])
        records.append(record)
    # the first record is replaced by a later line of the same key
    failed = {
        **records[-1],
        "sample_id": records[0]["sample_id"],
        "sample_digest": records[0]["sample_digest"],
    }
    failed.update(status="model_error", value=None, reason=name, verdicts=[])

    changed = {**named, "metrics": (entry,), "embedder": name, "source": name, "finished": False}
    with closing(Folder.begin(run.with_name("renamed"), manifest.model_copy(update=changed))) as folder:
        for sample in Run.load(run).samples():
            folder.add_sample(sample)
        folder.add_prompt_texts(made.prompt_texts)
        folder.add_records([Record.model_validate(record) for record in [*records, failed]])
        folder.update_manifest(finished=True)
    return run.with_name("renamed")


def test_nothing_of_the_data_is_markup(hostile, files):
    def skeleton(path: Path) -> str:
        chunks = r'(<script type="application/octet-stream" id="d-\w+">[A-Za-z0-9+/=]*</script>\n)+'
        return re.sub(chunks, "", path.read_text(encoding="utf-8"))

    first, second = skeleton(hostile), skeleton(files["telecom"])
    assert first == second


def test_the_policy_allows_only_the_two_assets_by_their_digests(hostile):
    text = hostile.read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)

    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "connect-src" not in policy
    assert "require-trusted-types-for 'script'" in policy


def test_hostile_texts_are_shown_as_text_in_every_view_and_nothing_runs(opened, hostile):
    page = opened.go(hostile)
    assert HOSTILE["closing"] in page.inner_text("main")
    page.click("#to-samples")
    page.wait_for_selector("tr[data-row]")
    rows = page.locator("tr[data-row]").count()
    assert rows == len(HOSTILE)
    for row in range(rows):
        page.evaluate("row => { location.hash = `#row=${row}`; }", row)
        page.wait_for_function(
            "row => document.querySelector('.proof')?.dataset.row === String(row)",
            arg=row,
        )
        page.eval_on_selector_all("details", "all => all.forEach((each) => { each.open = true; })")
        page.wait_for_selector("details.step pre")
        page.eval_on_selector_all(
            "main *",
            """all => all.forEach((each) =>
            each.dispatchEvent(new MouseEvent('mouseover', { bubbles: true })))""",
        )

    page.evaluate("() => { location.hash = '#sessions'; }")
    page.wait_for_selector("text=sessions, the lowest mean first")
    for link in page.eval_on_selector_all("tbody th a", "all => all.map((each) => each.hash)"):
        page.evaluate("to => { location.hash = to; }", link)
        page.wait_for_selector(".turn .proof")
        assert page.locator("#back").inner_text() == "← Sessions"
        page.evaluate("() => { location.hash = '#sessions'; }")
        page.wait_for_selector("text=sessions, the lowest mean first")

    assert page.evaluate("window.ran") is None
    assert opened.errors == []
    assert opened.left == []
    assert (
        page.evaluate(
            "document.querySelectorAll('main script, main iframe, main svg, main style, main meta').length"
        )
        == 0
    )


def test_every_link_stays_in_the_report(opened, hostile):
    page = opened.go(hostile)
    for fragment in ("#overview", "#samples", "#row=0", "#sessions", "#nth=0"):
        page.evaluate("to => { location.hash = to; }", fragment)
        page.wait_for_timeout(100)
        links = page.eval_on_selector_all("a", "all => all.map((each) => each.getAttribute('href'))")
        assert all(link.startswith("#") for link in links)


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_link_to_a_sample_with_a_hostile_id_opens_it(opened, hostile, name):
    page = opened.go(hostile, "#samples")
    page.fill("input[type=search]", "")
    row = next(
        each
        for each in page.locator("tr[data-row]").all()
        if each.locator("td").first.get_attribute("title") == shown(HOSTILE[name])
    )
    row.locator("a").click()
    page.wait_for_selector(".proof")
    title = page.locator("h1.id bdi").text_content()
    page.reload()
    page.wait_for_selector(".proof")

    assert page.locator("h1.id bdi").text_content() == title == shown(HOSTILE[name])


def test_controls_and_direction_overrides_are_shown_and_right_to_left_texts_run_right_to_left(
    opened, hostile
):
    page = opened.go(hostile, "#samples")
    page.fill("input[type=search]", "gnp.exe")
    assert page.locator("tr[data-row] bdi").first.text_content().startswith("user�gnp.exe")

    page.fill("input[type=search]", HOSTILE["rtl"][:5])
    page.locator("tr[data-row] a").first.click()
    page.wait_for_selector("p.question")
    assert page.evaluate("getComputedStyle(document.querySelector('p.question')).direction") == "rtl"


def test_marks_stand_at_the_right_characters_beyond_the_basic_plane(opened, hostile):
    page = opened.go(hostile, "#samples")
    page.fill("input[type=search]", "𝒳")
    page.locator("tr[data-row] a").first.click()
    page.wait_for_selector(".chunks mark")

    assert page.locator(".chunks mark").first.text_content() == shown(HOSTILE["emoji"])


def test_five_megabytes_in_every_field_are_cut_and_say_so(opened, tmp_path):
    text = "word " * 1_000_000
    sample = {
        "id": "long",
        "question": text,
        "answer": text,
        "contexts": [text],
        "reference": text,
        "labels": {"a": text},
    }

    def reply(request: Generate[Any]) -> Any:
        if request.prompt.name == "statements":
            return {"statements": [text], "declined": False}
        return {"verdicts": [{"number": 1, "reason": text, "evidence": "word word word", "verdict": "yes"}]}

    path = write_report(scripted([sample], reply, tmp_path / "run"), tmp_path / "report.html")
    page = opened.go(path, "#sample=long")
    page.wait_for_selector(".proof")

    assert path.stat().st_size < 2_000_000
    assert "4,900,000 more characters are not shown here." in page.inner_text("main")
    assert opened.errors == []


def shown(text: str) -> str:
    """An id as the page shows it: one line, without what could mislead."""
    from ragmetrics_core.report._text import one_line

    return one_line(text)

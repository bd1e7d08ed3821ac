"""A sample with several references: the page shows all of them, and which one the score took."""

import json

import pytest

from ragmetrics_core import evaluate, write_report

SAMPLES = [
    {
        "id": "q",
        "question": "Where?",
        "answer": "It is Ulm.",
        "contexts": ["It is Ulm."],
        "references": ["It is Bonn.", "It is Ulm.", "It is <b>Rome</b>."],
    },
    {"id": "one", "question": "Where?", "answer": "It is Ulm.", "contexts": ["Ulm."], "reference": "Ulm"},
]


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """A judge that finds Ulm right and Bonn wrong: it is not asked about Rome."""

    def judge(prompt):
        if "<items>" not in prompt:
            statements = ["It is Bonn." if "Bonn" in prompt else "It is Ulm."]
            declined = {"declined": False} if '"declined"' in prompt else {}
            return json.dumps({"statements": statements, **declined})
        verdict, quote = ("no", "") if "Bonn" in prompt else ("yes", "Ulm")
        return json.dumps({"verdicts": [{"number": 1, "evidence": quote, "verdict": verdict}]})

    run = evaluate(SAMPLES, metrics=["factual_correctness", "faithfulness", "exact_match"], judge=judge)
    return write_report(run, tmp_path_factory.mktemp("report") / "report.html")


def headings(page):
    return page.locator(".sources h3").all_inner_texts()


def test_all_references_are_shown_and_which_of_them_counts(opened, page_of):
    page = opened.go(page_of, "#sample=q&metric=factual_correctness")

    assert headings(page) == [
        "Answer",
        "Reference 1 · does not count",
        "Reference 2 · counts",
        "Reference 3 · not asked",
    ]
    # a text of the data is never markup
    assert "It is <b>Rome</b>." in page.inner_text(".sources")
    assert opened.errors == []


def test_the_verdicts_on_a_reference_that_does_not_count_colour_nothing_but_that_reference(opened, page_of):
    page = opened.go(page_of, "#sample=q&metric=factual_correctness")

    marked = page.eval_on_selector_all(
        ".sources mark", "all => all.map((m) => [m.textContent, m.classList[0]])"
    )
    # 1 and 2 are the verdicts beside Bonn, 3 and 4 those beside Ulm: a "yes" each
    ulm = [["It is ", "yes"], ["Ulm", "yes"], [".", "yes"]]
    assert marked == [*ulm, ["It is Bonn.", "no"], *ulm]
    titles = page.locator("h3", has_text="statements").all_inner_texts()
    assert titles == [
        "Answer statements (reference 1) · does not count",
        "Reference statements (reference 1) · does not count",
        "Answer statements (reference 2) · counts",
        "Reference statements (reference 2) · counts",
    ]


def test_a_score_that_takes_no_reference_shows_them_without_a_word_on_which_counts(opened, page_of):
    page = opened.go(page_of, "#sample=q&metric=faithfulness")

    assert headings(page) == ["Answer", "Reference 1", "Reference 2", "Reference 3"]


def test_a_verdict_on_a_whole_reference_stands_at_that_reference(opened, page_of):
    page = opened.go(page_of, "#sample=q&metric=exact_match")

    marked = page.eval_on_selector_all(
        ".sources mark", "all => all.map((m) => [m.textContent, m.dataset.n, m.classList[0]])"
    )
    assert marked == [
        ["It is Bonn.", "1", "no"],
        ["It is Ulm.", "2", "yes"],
        ["It is <b>Rome</b>.", "3", "no"],
    ]


def test_a_single_reference_has_no_number(opened, page_of):
    page = opened.go(page_of, "#sample=one&metric=factual_correctness")

    assert headings(page) == ["Answer", "Reference"]

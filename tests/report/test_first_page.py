"""The first page says where the scores are low, and each part of a picture leads to its samples."""

import pytest

from ragmetrics_core import evaluate, write_report
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.testing import HashEmbedder
from tests.report.conftest import data_of
from tests.report.test_page import ids

SAME, OTHER = "one two three", "four five six"


def sample(name, *, is_same=True, **labels):
    """A sample whose answer_similarity is 1, or the similarity of other words."""
    return {"id": name, "answer": SAME, "reference": SAME if is_same else OTHER, **labels}


def written(folder, rows, **settings):
    run = evaluate(rows, metrics="answer_similarity", embedder=HashEmbedder(), out=folder / "run")
    return write_report(run, folder / "report.html", **settings)


@pytest.fixture(scope="module")
def systems(tmp_path_factory):
    """System b fails on 4 of 6 samples and system a on none; one sample has no system.

    Of topic y 2 of 6 samples fail, of topic x 2 of 7.
    """
    rows = [sample(f"a{n}", system="a", topic=("x", "y")[n % 2], team="us", code=f"c{n}") for n in range(6)]
    rows += [
        sample(f"b{n}", is_same=n >= 4, system="b", topic=("x", "y")[n % 2], team="us", code=f"d{n}")
        for n in range(6)
    ]
    return written(tmp_path_factory.mktemp("systems"), [*rows, sample("z", team="us", topic="x", code="z")])


def test_the_means_by_label_have_n_and_intervals_and_the_worst_value_comes_first(systems):
    tables = data_of(systems)["overview"]["labels"]["tables"]
    rows = {table["name"]: [(each["value"], each["samples"]) for each in table["groups"]] for table in tables}
    mean, low, high, n = tables[0]["groups"][1]["sides"][0][0]

    assert rows == {"system": [("b", 6), ("a", 6), (None, 1)], "topic": [("y", 6), ("x", 7)]}
    assert n == 6
    assert low <= mean <= high
    assert tables[0]["groups"][0]["sides"][0][0][0] < mean


def test_a_label_without_a_table_is_named_with_the_reason(opened, systems):
    text = opened.go(systems).inner_text("main")
    assert "team (us in every sample)" in text
    assert "code (a different value in every sample)" in text


def test_many_values_are_counted_together_and_many_labels_are_named(opened, tmp_path):
    # 25 values of two samples: 20 rows, and one row for the 10 samples of the other 5
    rows = [
        sample(f"s{n}", customer=f"customer {n % 25}", **{f"label{k:02}": n % 2 for k in range(13)})
        for n in range(50)
    ]
    page = opened.go(written(tmp_path, rows))
    labels = data_of(tmp_path / "report.html")["overview"]["labels"]

    assert len(labels["tables"]) == 12
    assert [(each["others"], each["samples"]) for each in labels["tables"][0]["groups"]][19:] == [
        (0, 2),
        (5, 10),
    ]
    text = page.inner_text("main")
    assert "label11 (2 values; the page has the first 12 labels)" in text
    assert "label12 (2 values" in text
    assert "5 other values" in page.inner_text("details:has-text('customer')")


def test_a_cell_leads_to_its_samples(opened, systems):
    page = opened.go(systems)
    page.locator(".heat tbody tr", has_text="b").first.locator("td a").click()
    page.wait_for_selector("table.samples")

    assert sorted(ids(page)) == [f"b{n}" for n in range(6)]
    page.go_back()
    page.click(".heat a:has-text('(without it)')")
    page.wait_for_selector("table.samples")
    assert ids(page) == ["z"]


def test_a_filter_takes_several_values_and_two_labels_must_both_hold(opened, systems):
    page = opened.go(systems, "#samples")
    page.click(".several[data-name=label] summary")
    for value in ("system: a", "system: b"):
        page.check(f"input[name=label][value='{value}']")
    assert len(ids(page)) == 12
    assert "2 values" in page.inner_text(".several[data-name=label] summary")

    page.check("input[name=label][value='topic: y']")
    expected = {f"{system}{n}" for system in "ab" for n in (1, 3, 5)}
    assert set(ids(page)) == expected
    # the address keeps the filter
    assert set(ids(opened.go(systems, page.evaluate("location.hash")))) == expected


def test_the_table_of_samples_has_labels_and_keeps_both_ends_of_a_long_id(opened, tmp_path):
    name = "system-one-of-the-second-series-question-17"
    page = opened.go(written(tmp_path, [sample(name, topic="x"), sample("short", topic="y")]), "#samples")

    assert "system-one-of…-question-17" in ids(page)
    assert page.locator("tr[data-row] td").first.get_attribute("title") in (name, "short")
    page.click("th[data-sort=labels] button")
    assert page.locator("tr[data-row]").first.inner_text().count("topic: x") == 1


def test_a_bar_of_the_distribution_leads_to_exactly_the_samples_it_counts(opened, systems):
    page = opened.go(systems)
    bars = page.locator(".means .picture a")
    # 4 samples of other words, and 9 with the same words
    assert [each.get_attribute("aria-label").split()[0] for each in bars.all()] == ["4", "9"]
    bars.first.click()
    page.wait_for_selector("table.samples")
    assert sorted(ids(page)) == ["b0", "b1", "b2", "b3"]


def test_kinds_of_failure_are_counted_and_lead_to_their_samples(opened, files, telecom):
    page = opened.go(files["telecom"])
    row = page.locator("tr", has_text="missed retrieval")
    expected = {name for name, codes in telecom.diagnoses().items() if "missed_retrieval" in codes}

    assert f"{len(expected)}" in row.inner_text()
    assert f"{round(100 * len(expected) / len(telecom))} %" in row.inner_text()
    row.locator("a").click()
    page.wait_for_selector("table.samples")
    assert page.inner_text("#count").startswith(f"{len(expected)} of")


def test_a_point_of_run_against_run_leads_to_its_samples(opened, files, telecom, changed):
    page = opened.go(files["two"])
    position = [entry.name for entry in telecom.metrics].index("factual_correctness")
    before, after = (
        {r.sample_id: r.value for r in run.records("factual_correctness")} for run in (telecom, changed)
    )
    rose = {name for name in before if (before[name], after.get(name)) == (0, 1)}
    point = page.locator(".figures figure").nth(position).locator("a[aria-label$=': 0, 1']")

    assert len(rose) > 1
    assert point.get_attribute("aria-label") == f"{len(rose)} samples: 0, 1"
    point.click()
    page.wait_for_selector("table.samples")
    assert set(ids(page)) == rose
    # the box takes the choice back
    page.uncheck("input[name=rows]")
    assert page.inner_text("#count").startswith("52 samples")


@pytest.mark.parametrize("name", ["telecom", "two", "troubled"])
def test_each_picture_says_in_words_what_it_shows(opened, files, name):
    page = opened.go(files[name])
    page.wait_for_selector(".picture")
    unnamed = "all => all.filter((each) => !each.getAttribute('aria-label')).length"
    assert page.eval_on_selector_all(".picture, .picture a", unnamed) == 0
    assert opened.errors == []


@pytest.fixture(scope="module")
def rated(tmp_path_factory, telecom):
    """Ratings of 12 samples by two annotators, who differ on the first four, and checked verdicts."""
    folder = tmp_path_factory.mktemp("rated")
    lines = ["sample_id,annotator,label,metric,statement,value"]
    for number, name in enumerate(list(telecom.sample_ids)[:12]):
        ann = 1 + number % 5
        lines.append(f"{name},ann,rating,,,{ann}")
        lines.append(f"{name},bob,rating,,,{ann % 5 + 1 if number < 4 else ann}")
        lines.append(f"{name},ann,supported,faithfulness,1,{'yes' if number % 2 else 'no'}")
    labels = folder / "labels.csv"
    labels.write_text("\n".join([*lines, "elsewhere,ann,rating,,,3"]), encoding="utf-8")
    return write_report(telecom, folder / "report.html", labels=labels)


def test_labels_give_metrics_against_people_and_annotator_against_annotator(opened, rated):
    page = opened.go(rated)
    text = page.inner_text("main")

    # ann gives 1 2 3 4 5 1 2 3 4 5 1 2, and bob one more on the first four; the consensus is the mean
    values = data_of(rated)["overview"]["people"]["labels"][0]["values"]
    assert sorted(value for _, value in values) == [1, 1, 1.5, 2, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5]
    assert "faithfulness and rating" in text
    assert "Spearman" in text
    assert "8 of 12 samples have the same label from both" in text
    assert "left out, because they are not in the run: 1 labelled sample" in text
    page.click("a:has-text('4 differences')")
    page.wait_for_selector("table.samples")
    assert len(ids(page)) == 4
    assert opened.errors == []


def test_verdict_probabilities_are_calibrated_against_peoples_labels(opened, rated, telecom):
    (curve,) = data_of(rated)["overview"]["people"]["verdicts"]
    checked = [
        verdict.confidence
        for name in list(telecom.sample_ids)[:12]
        for verdict in telecom.score(name, "faithfulness").verdicts
        if verdict.number == 1 and verdict.confidence is not None
    ]

    assert curve["n"] == sum(each["n"] for each in curve["bins"]) == len(checked) > 5
    assert "Calibration of the judge" in opened.go(rated).inner_text("main")


def test_labels_of_other_samples_or_of_two_runs_are_refused(telecom, changed, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("sample_id,annotator,value\nnobody,ann,yes\n", encoding="utf-8")
    with pytest.raises(
        ConfigError, match="no labelled sample is in the run; the first labelled one is 'nobody'"
    ):
        write_report(telecom, tmp_path / "report.html", labels=labels)
    with pytest.raises(ConfigError, match="give --labels with one run"):
        write_report(telecom, tmp_path / "report.html", other=changed, labels=labels)


def test_samples_with_times_give_a_trend_whose_points_lead_to_them(opened, tmp_path):
    # four days, a sample of other words on the last one
    rows = [
        sample(f"s{n}", is_same=n < 6, day=f"2026-01-0{1 + n // 2}", code=f"20260101{n}") for n in range(8)
    ]
    page = opened.go(written(tmp_path, rows))
    (trend,) = data_of(tmp_path / "report.html")["overview"]["times"]
    means = [span["sides"][0][0][0] for span in trend["spans"]]

    assert trend["name"] == "day"
    assert means[:3] == pytest.approx([1, 1, 1])
    assert means[3] < 1
    page.click("section:has-text('Over time: day') a[aria-label^='2026-01-04']")
    page.wait_for_selector("table.samples")
    assert sorted(ids(page)) == ["s6", "s7"]

"""The paper's own tables, re-examined: known answers, and what can and cannot be tested from them."""

from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from scipy import stats

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import (
    check_claims,
    claim_tables,
    parse_size,
    read_claims,
    read_published,
    study_published,
)

DATA = Path(__file__).resolve().parents[2] / "examples" / "data"


@pytest.fixture(scope="module")
def claims():
    return read_claims(DATA / "telecom_claims.json")


def checks_of(claims, number, sizes=()):
    table = read_published(DATA / f"telecom_table{number}.csv", sizes=[parse_size(each) for each in sizes])
    return check_claims(table, claims)


def about(checks, words):
    return [each for each in checks if words in each.claim.claim]


def test_answer_correctness_is_the_weighted_sum_in_all_14_rows_of_table_2(claims):
    found = about(checks_of(claims, 2), "0.75 FacCor")
    assert [each.verdict for each in found] == ["supported"] * 14


def test_a_sum_that_rounding_cannot_explain_is_contradicted(claims, tmp_path):
    # row 1: 0.75 * 0.77 + 0.25 * 0.73 = 0.76; rounding explains up to 0.01
    text = (DATA / "telecom_table2.csv").read_text()
    changed = text.replace("Yes,AnsCor,0.76,0.22,502", "Yes,AnsCor,0.78,0.22,502")
    (tmp_path / "telecom_table2.csv").write_text(changed)
    found = about(check_claims(read_published(tmp_path / "telecom_table2.csv"), claims), "0.75 FacCor")
    assert [each.verdict for each in found].count("contradicted") == 1


def test_answer_relevance_in_both_ift_rows_does_not_support_correct_above_wrong(claims):
    found = about(checks_of(claims, 2), "higher with correct")
    assert len(found) == 42
    failed = [each for each in found if each.verdict != "supported"]
    assert [(each.metric, each.verdict) for each in failed] == [("AnsRel", "not supported")] * 2
    assert all("Mistral-IFT" in each.where for each in failed)
    assert {each.numbers.partition(" ")[0] for each in failed} == {"0.36", "0.48"}


def test_bge_base_against_pt_ft_contradicts_similar(claims):
    found = about(checks_of(claims, 2), "similar to the base")
    (each,) = (
        each for each in found if each.metric == "AnsCor" and each.where == "BGE PT-FT and BGE BASE; Yes"
    )
    numbers = (0.71, 0.23, 526, 0.76, 0.22, 502)
    p = stats.ttest_ind_from_stats(*numbers, equal_var=False).pvalue
    assert each.verdict == "contradicted"
    assert each.p.low < p < each.p.high < 0.01


def test_what_rounding_decides_is_open(claims):
    found = about(checks_of(claims, 2), "similar to the base")
    (each,) = (
        each for each in found if each.metric == "FaiFul" and each.where == "BGE PT-FT and BGE BASE; No"
    )
    # 0.78 (0.31) n 189 and 0.71 (0.35) n 213: p is 0.034 as printed, 0.07 if the means are 0.01 closer
    assert each.verdict == "open"
    assert each.p.low < 0.05 < each.p.high


def test_table_3_without_n_is_not_tested_and_with_n_it_is(claims):
    assert {each.verdict for each in checks_of(claims, 3)} == {"not testable"}
    found = checks_of(claims, 3, ["retrieval=Correct:502", "retrieval=Wrong:213"])
    assert "not testable" not in {each.verdict for each in found}
    lower = about(found, "FaiFul is lower for adapted generators")
    assert {each.verdict for each in lower} == {"supported"}


def test_table_1_needs_an_n_too_and_does_not_show_every_gain_it_claims(claims):
    assert {each.verdict for each in checks_of(claims, 1)} == {"not testable"}
    found = about(checks_of(claims, 1, ["715"]), "over the base embedding")
    # accuracy@5 of BGE: 91.02 against 84.81 % is significant; at k = 1, 72.66 against 69.09 % is not
    assert ([each.verdict for each in found].count("supported"), len(found)) == (4, 12)


def test_both_metrics_together_are_never_below_one_alone_in_table_4(claims):
    found = about(checks_of(claims, 4), "both metrics than with one")
    assert [each.verdict for each in found] == ["supported"] * 12


def test_the_summary_says_which_claims_hold(claims):
    table = next(claim_tables(checks_of(claims, 2)))
    verdicts = {row[1]: row[-1].cell for row in table.rows}
    assert verdicts["AnsCor is 0.75 FacCor + 0.25 AnsSim"] == "holds"
    assert verdicts["every metric is higher with correct than with wrong retrieval (one-sided t-test)"] == (
        "does not hold in every row"
    )


def test_a_published_table_is_studied_like_runs_and_marks_what_differs_from_the_baseline():
    table = read_published(
        DATA / "telecom_table3.csv", sizes=[parse_size("retrieval=Correct:502"), parse_size("213")]
    )
    found = study_published(table, by="retrieval", baseline="BGE-LARGE / Mistral-7b / Base")
    assert {each.group.value for each in found.measured} == {"Correct", "Wrong"}
    adjusted = [each for each in found.contrasts if each.kind == "baseline"]
    # 23 other runs, 2 groups, 2 metrics
    assert len(adjusted) == 23 * 4
    assert all(each.holm.low <= each.holm.high for each in adjusted)


def test_an_n_that_is_printed_is_not_replaced():
    with pytest.raises(ConfigError, match="n 99 for every row is not needed"):
        read_published(DATA / "telecom_table2.csv", sizes=[parse_size("99")])


@pytest.mark.parametrize("text", ["", "many", "retrieval:5", "0", "a=b:"])
def test_a_size_that_is_none_is_a_mistake(text):
    with pytest.raises(ConfigError, match="is no size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("metric,mean\nF,0.5\n", "needs the columns metric, mean and sd"),
        ("metric,mean,sd\nF,many,0.1\n", "line 2: mean is 'many', which is no number"),
        ("metric,mean,sd\nF,nan,0.1\n", "which is no number"),
        ("metric,mean,sd\nF,0.5,-0.1\n", "the sd -0.1 is below 0"),
        ("metric,share\nF,69.1\n", "the share 69.1 is not within 0 and 1"),
        ("metric,mean,sd\n", "has no rows"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(tmp_path, text, told):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ConfigError, match=told):
        read_published(tmp_path / "t.csv")


def test_rounding_is_taken_from_the_digits_or_from_the_user(tmp_path):
    (tmp_path / "t.csv").write_text("metric,mean,sd,n\nF,0.5,0.25,9\n")
    assert read_published(tmp_path / "t.csv").half_width == pytest.approx(0.005)
    assert read_published(tmp_path / "t.csv", decimals=1).half_width == pytest.approx(0.05)


def test_a_claim_about_a_label_that_is_not_there_is_a_mistake(tmp_path):
    (tmp_path / "t.csv").write_text("metric,mean,sd,n\nF,0.5,0.25,9\n")
    (tmp_path / "c.json").write_text(
        '[{"claim": "x", "table": "t.csv", "kind": "higher", "label": "who", "pairs": [["a", "b"]]}]'
    )
    with pytest.raises(ConfigError, match=r"which is no label of t\.csv"):
        check_claims(read_published(tmp_path / "t.csv"), read_claims(tmp_path / "c.json"))


def test_a_published_metric_of_the_catalogue_keeps_its_direction(tmp_path):
    (tmp_path / "t.csv").write_text(
        "model,retrieval,metric,mean,sd,n\n"
        "A,yes,hallucination,0.10,0.20,100\nA,no,hallucination,0.50,0.20,100\n"
        "A,yes,FaiFul,0.90,0.20,100\nA,no,FaiFul,0.50,0.20,100\n"
    )
    study = study_published(read_published(tmp_path / "t.csv"), by="retrieval", one_sided=True)
    assert [each.alternative for each in study.contrasts] == ["less", "greater"]
    # t = 0.4 / sqrt(2 * 0.2**2 / 100) = 14: far below any alpha, whatever was rounded
    assert all(each.holm.high < 1e-6 for each in study.contrasts)

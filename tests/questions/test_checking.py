"""Checks of existing test sets: the same reasons and records as for generated ones, and nothing else."""

import json

import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.questions import QuestionSet, check_questions, read_corpus
from tests.questions.towers import PLACES, Towers, documents, sentence_of

ALL = [place for places in PLACES.values() for place in places]


def row(place, **changed):
    return {
        "question": f"Who built the tower of {place}?",
        "reference": f"The tower of {place} was built by the {place} guild.",
        "reference_contexts": [sentence_of(place)],
    } | changed


@pytest.fixture
def checked(tmp_path):
    """A function that checks rows on the towers in a folder."""

    def checked(rows, towers=None, *, folder="set", **settings):
        settings = {"first_hit_share": 1.0, "progress": False, **settings}
        judge = (towers or Towers()).judge
        return check_questions(rows, documents(), out=tmp_path / folder, judge=judge, **settings)

    return checked


def test_good_questions_pass_and_the_folder_proves_it(checked):
    found = checked([row(place) for place in ALL])

    assert [question.quotes[0].document for question in found.questions] == ALL
    assert found.is_complete
    assert found.audit() == []
    assert (found.summary.asked, found.summary.kept) == (6, 6)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("insufficient", "not_answered_by_quotes"),
        ("unfaithful", "not_answered_by_quotes"),
        ("unclear", "refers_to_passage"),
        ("several", "several_questions"),
        ("elsewhere", "answered_without_quotes"),
        ("unread", "could_not_be_checked"),
    ],
)
def test_each_fault_of_a_question_has_its_reason(checked, fault, code):
    found = checked([row(place) for place in ALL], Towers(Oslo=fault))

    assert found.counts == {code: 1}
    assert not found.is_complete
    assert found.audit() == []


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (row("Oslo", reference_contexts=[sentence_of("Paris")]), "quote_not_found"),
        (row("Oslo", reference_contexts=None), "no_quotes"),
        (row("Bergen", question="Who built the tower of Bergen, please?"), "near_duplicate"),
        ({"question": "Who?", "answer": "Somebody."}, "not_a_question"),
        # gold from a wrong section: the quote is there, and does not answer
        (row("Oslo", reference_contexts=[sentence_of("Arica")]), "not_answered_by_quotes"),
    ],
)
def test_each_fault_of_a_row_has_its_reason(checked, bad, code):
    found = checked([row("Bergen"), bad, row("Bodo")])

    assert found.counts == {code: 1}
    assert len(found) == 2
    assert found.audit() == []


def test_a_generated_set_passes_its_own_checks_without_a_new_call(checked, tmp_path):
    from ragmetrics_core.questions import generate_questions

    made = generate_questions(
        documents(), out=tmp_path / "made", judge=Towers().judge, per=6, first_hit_share=1.0, progress=False
    )
    towers = Towers()
    found = checked(made.path / "questions.jsonl", towers, cache=made.path / "journal.sqlite")

    assert [question.id for question in found.questions] == [question.id for question in made.questions]
    assert towers.judge.asked == []


def test_too_many_questions_by_first_hit_drop_none_and_fail_the_set(checked):
    # the first hit answers all 6, and 3 may be like that
    found = checked([row(place) for place in ALL], first_hit_share=0.5)

    assert (len(found), found.summary.by_first_hit, found.summary.most_by_first_hit) == (6, 6, 3)
    assert not found.is_complete


def test_a_sample_is_chosen_by_its_seed(checked):
    chosen = [
        checked(list(map(row, ALL)), sample=2, seed=seed, folder=f"s{seed}").questions for seed in range(8)
    ]

    assert {len(questions) for questions in chosen} == {2}
    assert len({tuple(question.id for question in questions) for questions in chosen}) > 1


def test_metrics_that_are_left_out_cost_nothing_and_are_named(checked):
    towers = Towers(Oslo="unclear", Bergen="several")
    found = checked(list(map(row, ALL)), towers, leave_out=("question_quality", "closed_book_accuracy"))

    assert len(found) == 6
    assert {request.prompt.name for request in towers.judge.asked} == {
        "sufficiency",
        "statements",
        "verdicts",
    }
    assert found.summary.settings.left_out == ("closed_book_accuracy", "question_quality")
    assert found.audit() == []


def test_what_proves_an_answer_cannot_be_left_out(checked):
    with pytest.raises(
        ConfigError, match="leave_out takes question_quality or closed_book_accuracy, not 'suff"
    ):
        checked([row("Oslo")], leave_out=("sufficiency",))


def test_the_same_call_again_makes_no_call_and_other_questions_are_refused(checked):
    checked([row("Oslo")])
    towers = Towers()
    assert len(checked([row("Oslo")], towers)) == 1
    assert towers.judge.asked == []
    with pytest.raises(ConfigError, match="holds a test set with other settings \\(questions: "):
        checked([row("Bodo")])


def test_an_altered_file_is_found_by_the_audit(checked):
    found = checked([row("Oslo"), row("Bodo")], Towers(Oslo="unclear"))
    file = found.path / "questions.jsonl"
    file.write_text(file.read_text().replace("Bodo guild", "Oslo guild"))
    assert QuestionSet.read(found.path).audit() == ["questions.jsonl is not what the records give"]


def test_private_parts_are_nowhere_in_the_folder(checked, tmp_path):
    corpus = [
        {**document, "text": document["text"].replace("guild", "Smith guild")} for document in documents()
    ]
    bad = row(
        "Oslo", question="Who built the tower of Oslo, asks Smith?", reference_contexts=[corpus[0]["text"]]
    )

    def redact(text):
        return text.replace("Smith", "[name]")

    found = check_questions(
        [bad], corpus, out=tmp_path / "set", judge=Towers().judge, redact=redact, progress=False
    )
    assert read_corpus(tmp_path / "set" / "corpus.jsonl").documents["Oslo"].text.count("[name]") == 1
    assert found.summary.asked == 1
    for file in (tmp_path / "set").rglob("*"):
        assert not file.is_file() or b"Smith" not in file.read_bytes()
    assert json.loads((tmp_path / "set" / "test_set.json").read_text())["settings"]["redacted"] is True


@pytest.mark.parametrize("content", ["", "\n"], ids=["no question", "a blank line"])
def test_other_questions_in_the_folder_are_found_by_the_audit(checked, content):
    found = checked([row("Oslo"), row("Bodo")])
    (found.path / "candidates.jsonl").write_text(content)

    (difference,) = found.audit()
    assert "candidates.jsonl is missing, or has changed" in difference


def test_a_row_without_a_gold_answer_is_not_a_question(checked):
    found = checked([row("Oslo"), row("Bodo", reference=None)])

    (dropped,) = found.dropped
    assert [(each.code, each.sentence) for each in dropped.reasons] == [
        ("not_a_question", "it has no gold answer")
    ]
    assert found.audit() == []

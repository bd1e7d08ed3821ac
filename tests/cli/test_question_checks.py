"""`ragmetrics questions check` and `--from-run`: test sets that exist already, and live traffic."""

import json

import pytest

from ragmetrics_core.questions import QuestionSet
from tests.questions.test_checking import row
from tests.questions.towers import Towers, documents
from tests.servers import OpenAIServer


def lines(path, rows):
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


@pytest.fixture
def corpus(tmp_path):
    return lines(tmp_path / "towers.jsonl", documents())


@pytest.fixture
def check(command, corpus, monkeypatch, tmp_path):
    """The command with its corpus and folder, and a server with the judge of the towers."""
    with OpenAIServer(Towers().answer) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)

        def check(rows, *options):
            file = lines(tmp_path / "given.jsonl", rows)
            words = f"--corpus {corpus} --judge openai:small --out {tmp_path / 'set'} --first-hit-share 1"
            return command("questions", "check", file, words, *options)

        yield check


def test_a_set_whose_questions_all_pass_is_exit_code_0(check, tmp_path):
    found = check([row("Oslo"), row("Bodo")])

    assert found.code == 0, found.err
    assert "2 questions of 2" in found.err
    assert QuestionSet.read(tmp_path / "set").audit() == []


def test_a_question_that_fails_is_exit_code_1_with_counted_reasons(check):
    # gold from a wrong section
    found = check([row("Oslo"), row("Bodo", reference_contexts=[documents()[4]["text"]])])

    assert found.code == 1
    assert "not_answered_by_quotes" in found.out
    assert "1 question of 2" in found.err


def test_what_was_left_out_is_told(check):
    found = check([row("Oslo")], "--leave-out question_quality,closed_book_accuracy")

    assert found.code == 0, found.err
    assert "Not measured: closed_book_accuracy, question_quality." in found.out


def test_a_file_without_gold_answers_is_a_usage_error(check):
    found = check([{"answer": "no question"}])

    assert found.code == 2
    assert "holds no question" in found.err


def test_questions_of_a_run_are_written_unchecked_without_a_judge(command, corpus, folder, tmp_path):
    # the run has samples on other things than the towers, so that no answer is proposed
    traffic = tmp_path / "traffic"
    found = command("questions", corpus, f"--from-run {folder} --per 2 --out {traffic} --redact Einstein")

    assert found.code == 0, found.err
    assert "Nothing was checked" in found.err
    made = QuestionSet.read(traffic)
    assert len(made) == 2
    assert {question.labels["checked"] for question in made.questions} == {False}
    assert b"Einstein" not in (traffic / "questions.jsonl").read_bytes()


def test_a_run_and_a_judge_are_refused_together(command, corpus, folder, tmp_path):
    found = command("questions", corpus, f"--from-run {folder} --judge embedded --per 2 --out {tmp_path}")

    assert found.code == 2
    assert "--from-run makes no call" in found.err

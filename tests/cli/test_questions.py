"""`ragmetrics questions`: a test set on documents, from a server, by file, and its exit codes."""

import json

import pytest

from ragmetrics_core.questions import QuestionSet
from ragmetrics_core.questions.reviewing import DecisionFile, digest_of_shown
from tests.questions.towers import Towers, documents
from tests.servers import Answer, OpenAIServer


@pytest.fixture
def corpus(tmp_path):
    file = tmp_path / "towers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in documents()))
    return file


@pytest.fixture
def server(monkeypatch):
    """A server with the judge of the towers."""
    with OpenAIServer(Towers().answer) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


@pytest.fixture
def questions(command, corpus, server, tmp_path):
    """The command with its corpus and folder."""

    def questions(*options, per="country=2"):
        words = f"--judge openai:small --per {per} --out {tmp_path / 'set'} --first-hit-share 1"
        return command("questions", corpus, words, *options)

    return questions


def rows_in(folder):
    """The rows of questions.jsonl without the digests of the records."""
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "records"} for row in rows]


def test_questions_are_written_and_the_numbers_printed(questions, tmp_path):
    found = questions()

    assert found.code == 0, found.err
    assert "4 questions of 4" in found.err
    assert QuestionSet.read(tmp_path / "set").audit() == []


def test_too_few_questions_are_exit_code_1_with_their_reasons(questions, server):
    # one of the 3 towers of Norway gives no good question
    server.answer = Towers(Oslo="unclear").answer
    found = questions("--tries 1", per="country=3")

    assert found.code == 1
    assert "refers_to_passage" in found.out
    assert "5 questions of 6" in found.err


def test_the_same_command_makes_no_call_again(questions, server):
    first = questions()
    calls = len(server.seen)
    again = questions()

    assert (first.code, again.code) == (0, 0)
    assert len(server.seen) == calls > 0


def test_a_plan_makes_no_call_and_no_folder(questions, server, tmp_path):
    found = questions("--plan")

    assert found.code == 0, found.err
    assert "first round" in found.out
    assert server.seen == []
    assert not (tmp_path / "set").exists()


def test_the_plan_counts_the_calls_of_a_first_round_that_passes(questions, server):
    planned = questions("--plan")
    questions()

    # closed_book_accuracy asks once if the judge says that it does not know, and the plan says that it does:
    # one call more for each of 4 questions
    count = int(planned.out.split("candidates, ")[1].split(" calls")[0].replace(",", ""))
    assert count - len(server.seen) in range(5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--kinds funny", "there is no kind 'funny'"),
        ("--styles loud", "there is no style 'loud'"),
        ("--per town=2", "no document has the label 'town'"),
        ("--per many", "--per takes a number or LABEL=NUMBER"),
    ],
)
def test_a_wrong_option_is_refused_before_any_call(questions, server, options, message):
    found = questions(options)

    assert found.code == 2
    assert message in found.err
    assert server.seen == []


def test_json_has_the_numbers(questions):
    found = questions("--json")

    page = json.loads(found.out)
    assert (page["asked"], page["kept"], page["is_complete"]) == (4, 4, True)


def test_the_waves_of_all_stages_give_the_same_questions_as_a_server(command, corpus, questions, tmp_path):
    questions()
    waves, folder, towers = tmp_path / "requests.jsonl", tmp_path / "waves", Towers()
    words = f"--judge openai:small --per country=2 --out {folder} --first-hit-share 1 --requests {waves}"

    found = command("questions", corpus, words)
    for _ in range(20):
        if "batch import" not in found.err:
            break
        requests = [json.loads(line) for line in waves.read_text().splitlines()]
        replies = tmp_path / "replies.jsonl"
        lines = [
            {
                "custom_id": each["custom_id"],
                "reply": towers.reply_to(each["body"]["messages"][-1]["content"]),
            }
            for each in requests
        ]
        replies.write_text("".join(json.dumps(line) + "\n" for line in lines))
        stage = found.err.split("batch import ")[1].split()[0]
        taken = command("batch import", stage, replies, f"--cache {folder / 'journal.sqlite'}")
        assert taken.code == 0, taken.err
        found = command("questions", corpus, words)

    assert found.code == 0, found.err
    assert rows_in(folder) == rows_in(tmp_path / "set")
    assert QuestionSet.read(folder).audit() == []


def test_failed_calls_are_told_apart_from_bad_questions(questions, server):
    server.answer = Answer(status=500, body={"error": {"message": "out of order"}})
    found = questions("--tries 1 --attempts 1")

    assert found.code == 1
    assert "4 scores failed (mostly: model_error" in found.err
    assert "The same command tries them again." in found.err


def test_candidates_with_several_reasons_are_explained(questions, server):
    # not sufficient and not understandable: 1 candidate, 2 reasons
    server.answer = Towers(Oslo="vague").answer
    found = questions("--tries 1", per="country=3")

    assert "A candidate can have several reasons." in found.out


def test_rejected_questions_do_not_change_the_share_of_the_first_hit(questions, corpus, tmp_path):
    questions()
    folder = tmp_path / "set"
    made = QuestionSet.read(folder)
    rejected = [
        {"question_id": each.id, "shown": digest_of_shown(each), "decision": "reject", "reason": "dull"}
        for each in made.checked
    ]
    form = {"format": "ragmetrics-question-decisions", "version": 1, "annotator": "ann"}
    made.decide(DecisionFile.model_validate({**form, "items": rejected[:3]}))
    found = questions()

    # the checks kept 4, and the page is about the checks
    assert "of 4 (" in found.out
    assert "4 questions of 4" in found.err


def test_the_audit_of_a_set_has_exit_code_1_if_a_file_was_altered(questions, command, tmp_path):
    # 2 questions, each with a record of question_writing, 4 of quoted, 1 of without and 1 of first_hit
    questions(per="2")
    folder = tmp_path / "set"
    whole = command("questions", "audit", folder)
    (folder / "questions.jsonl").write_text("")
    altered = command("questions", "audit", folder)

    assert (whole.code, whole.out) == (0, "")
    assert "14 records checked, 0 differences" in whole.err
    assert altered.code == 1
    assert "questions.jsonl is not what the records give" in altered.out

"""Two judges, the cheap one first: who decides what, what the record says of it, and what it costs."""

import json

import pytest

from ragmetrics_core import as_judge, evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import Cascade
from ragmetrics_core.protocol import Completion
from ragmetrics_core.runs import export_wave, import_replies, plan
from ragmetrics_core.testing import ScriptedJudge

SAMPLE = {
    "id": "q1",
    "question": "Where?",
    "answer": "Ada was born in cold Ulm.",
    "contexts": ["Ada was born in Ulm."],
}
STATEMENTS = {"statements": ["Ada was born.", "It was in Ulm.", "It was cold."], "declined": False}
# sure of the first and the third statement, of the second not
CHEAP = [(1, "yes", 0.97), (2, "yes", 0.55), (3, "no", 0.05)]


def verdicts(*told):
    return {
        "verdicts": [
            {"number": number, "verdict": verdict, **({} if share is None else {"probability": share})}
            for number, verdict, share in told
        ]
    }


def graded(reply):
    """A reply of a judge of this library, which may give probabilities and mark words."""
    return Completion(json.dumps(reply), held_to="graded")


def judges(cheap=CHEAP, dear=((2, "no", None),)):
    return (
        ScriptedJudge({"verdicts": graded(verdicts(*cheap))}, identity="cheap"),
        ScriptedJudge({"statements": STATEMENTS, "verdicts": verdicts(*dear)}, identity="dear"),
    )


def measured(cheap, dear, **settings):
    return evaluate([SAMPLE], metrics="faithfulness", judge=Cascade(cheap, dear), **settings)


def record_of(run):
    (record,) = run.records()
    return record


def test_what_the_cheap_judge_is_sure_of_is_its_own_and_the_rest_is_one_call_of_the_dear_one():
    cheap, dear = judges()

    record = record_of(measured(cheap, dear))

    # yes by the cheap judge, no by the dear one, no by the cheap one: 1/3
    assert record.value == pytest.approx(1 / 3)
    assert [each.judge for each in record.verdicts] == [
        "cheap, unsure from 0.2 to 0.8",
        "dear",
        "cheap, unsure from 0.2 to 0.8",
    ]
    assert [each.confidence for each in record.verdicts] == [0.97, None, 0.05]
    assert (cheap.count("verdicts"), dear.count("verdicts")) == (1, 1)
    assert dear.asked[-1].expected.numbers == (2,)
    assert not dear.asked[-1].again


def test_the_record_proves_itself_and_names_both_judges_and_the_band():
    record = record_of(measured(*judges()))

    assert audit(record) == []
    assert record.judge == "cascade(cheap, unsure from 0.2 to 0.8 | dear)"
    assert [step.judge for step in record.generate_steps] == [
        "dear",
        "cheap, unsure from 0.2 to 0.8",
        "dear",
    ]
    forged = record.model_copy(
        update={
            "verdicts": tuple(
                each.__class__(**{**_fields(each), "judge": "dear"}) for each in record.verdicts
            )
        }
    )
    assert {difference.field for difference in audit(forged)} >= {"verdicts[1].judge", "verdicts[3].judge"}


def _fields(verdict):
    return {name: getattr(verdict, name) for name in verdict.__slots__}


@pytest.mark.parametrize(
    "cheap",
    [
        [(1, "yes", None), (2, "no", None), (3, "no", None)],  # no probability
        [],  # nothing at all
        [(1, "no", 0.99), (2, "yes", 0.01), (3, "yes", 0.8)],  # at odds with itself, and on the edge
    ],
)
def test_what_is_not_surely_sure_is_the_dear_judges(cheap):
    first, dear = judges(cheap=cheap, dear=[(1, "yes", None), (2, "no", None), (3, "no", None)])

    record = record_of(measured(first, dear))

    assert {each.judge for each in record.verdicts} == {"dear"}
    assert dear.count("verdicts") == 1


def test_what_the_dear_judge_leaves_out_is_asked_of_it_once_more():
    cheap, dear = judges(dear=[])
    dear.replies = {**dear.replies, "verdicts": [{"verdicts": []}, verdicts((2, "yes", None))]}

    assert record_of(measured(cheap, dear)).value == pytest.approx(2 / 3)
    assert (cheap.count("verdicts"), dear.count("verdicts")) == (1, 2)
    assert dear.asked[-1].again


def test_verdicts_that_are_voted_on_are_passed_on_too():
    cheap, dear = judges()

    record = record_of(measured(cheap, dear, repeats=3))

    assert [each.votes for each in record.verdicts] == [(True,) * 3, (False,) * 3, (False,) * 3]
    assert audit(record) == []


def test_the_dear_judges_replies_are_kept_under_its_own_name_so_that_another_band_asks_for_less(tmp_path):
    cheap, dear = judges()
    measured(cheap, dear, cache=tmp_path / "cache.sqlite")

    wider = evaluate(
        [SAMPLE],
        metrics="faithfulness",
        judge=Cascade(cheap, dear, unsure=(0.1, 0.9)),
        cache=tmp_path / "cache.sqlite",
    )

    assert record_of(wider).judge == "cascade(cheap, unsure from 0.1 to 0.9 | dear)"
    assert len(dear.asked) == 2  # statements and one verdict, both in the first run


def test_a_plan_counts_the_dear_judges_verdicts_where_it_cannot_know_better():
    cheap, dear = judges()

    planned = plan([SAMPLE], metrics="faithfulness", judge=Cascade(cheap, dear))

    # statements, the cheap judge's verdicts, and at most one call for the rest
    assert planned.total.calls in {2, 3}
    assert not cheap.asked
    assert not dear.asked


def test_in_waves_only_the_dear_judge_waits(tmp_path):
    cheap, dear = judges()
    settings = {"metrics": "faithfulness", "judge": Cascade(cheap, dear), "out": tmp_path / "run"}
    replies = [STATEMENTS, verdicts((2, "no", None))]

    for reply in replies:
        assert export_wave([SAMPLE], tmp_path / "wave.jsonl", **settings).waiting == 1
        (request,) = (json.loads(line) for line in (tmp_path / "wave.jsonl").read_text().splitlines())
        choice = {"message": {"content": json.dumps(reply)}, "finish_reason": "stop"}
        body = {"choices": [choice], "model": "dear"}
        answer = {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}
        (tmp_path / "replies.jsonl").write_text(json.dumps(answer), encoding="utf-8")
        import_replies(tmp_path / "run", tmp_path / "replies.jsonl")
    last = export_wave([SAMPLE], tmp_path / "wave.jsonl", **settings)

    assert last.waiting == 0
    assert record_of(last.run).value == pytest.approx(1 / 3)
    assert not dear.asked


def test_a_cascade_has_a_name_that_every_door_takes(monkeypatch):
    pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    made = as_judge("cascade:embedded, openai:m@http://127.0.0.1:1/v1")

    assert made.identity.startswith("cascade(embedded:")
    assert made.identity.endswith("unsure from 0.2 to 0.8 | openai:http://127.0.0.1:1/v1/m?temperature=0)")
    with pytest.raises(ConfigError, match="there is no judge 'cascade:embedded'"):
        as_judge("cascade:embedded")


@pytest.mark.parametrize("band", [(0.8, 0.2), (-0.1, 0.5), (0.5, 1.1)])
def test_a_band_that_is_none_is_a_mistake(band):
    with pytest.raises(ConfigError, match="a range within 0 and 1"):
        Cascade(*judges(), unsure=band)


def test_words_that_a_judge_marks_stand_where_their_statement_stands_in_the_answer():
    answer = "Ada lived in Ulm. Ada was born in Ulm."
    marked = {"number": 2, "verdict": "no", "unsupported": ["in Ulm"]}
    reply = {"verdicts": [{"number": 1, "verdict": "yes"}, marked]}
    statements = {"statements": ["Ada lived in Ulm.", "Ada was born in Ulm."], "declined": False}
    judge = ScriptedJudge({"statements": statements, "verdicts": graded(reply)})

    record = record_of(evaluate([{**SAMPLE, "answer": answer}], metrics="faithfulness", judge=judge))

    (evidence,) = record.verdicts[1].evidence
    # the second sentence begins at 18; its "in Ulm" is the second one of the answer
    assert (evidence.source, evidence.span.start, evidence.span.end) == ("answer", 31, 37)
    assert audit(record) == []

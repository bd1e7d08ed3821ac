"""Records prove themselves: derived again they are the same, and every alteration is named."""

import json
from math import nextafter
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic_core import to_json

from ragmetrics_core import Record, Run, diff, evaluate, prompts, recompute, rescore
from ragmetrics_core.drivers import audit, rendered, self_contained
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.metrics import METRICS, ContextRelevance, FactualCorrectness, GroundednessRating
from ragmetrics_core.records.sealing import sealed_line
from ragmetrics_core.runs import Key
from ragmetrics_core.testing import HashEmbedder, OverlapScorer, ScriptedJudge
from tests.catalogue import reason_to_skip
from tests.lines import plain

MEASURABLE = [name for name in METRICS if not reason_to_skip(name)]

SAMPLE = {
    "id": "q1",
    "question": "Where and when was Einstein born?",
    "contexts": ["Albert Einstein (born 14 March 1879) was a German-born physicist. He played the violin."],
    "answer": "Einstein was born in Germany on 20 March 1879.",
    "reference": "Einstein was born in Germany in 1879.",
}
TWO_VERDICTS = {
    "verdicts": [
        {"number": 1, "reason": "says so", "evidence": "German-born physicist", "verdict": "yes"},
        {"number": 2, "reason": "another day", "evidence": "14 March 1879", "verdict": "no"},
    ]
}
REPLIES = {
    "statements": {
        "statements": ["Einstein was born in Germany.", "Einstein was born on 20 March 1879."],
        "declined": False,
    },
    "reference_statements": {"statements": ["Einstein was born in Germany.", "Einstein was born in 1879."]},
    "verdicts": TWO_VERDICTS,
    "reference_verdicts": TWO_VERDICTS,
    "answer_verdicts": TWO_VERDICTS,
    "chunk_verdicts": {"verdicts": [{"number": 1, "verdict": "yes"}]},
    "relevant_sentences": {"relevant": [1]},
    "questions": {"questions": [{"question": "Where was Einstein born?", "noncommittal": False}]},
    "entities": {"entities": ["Einstein", "Germany"]},
    "context_entities": {"entities": ["Albert Einstein", "germany"]},
}


def judged(replies: dict[str, Any] | None = None) -> ScriptedJudge:
    return ScriptedJudge({**REPLIES, **(replies or {})})


@pytest.fixture
def folder(tmp_path):
    """A finished run of all metrics on one sample."""
    evaluate(
        [SAMPLE],
        metrics=MEASURABLE,
        judge=judged(),
        embedder=HashEmbedder(),
        scorer=OverlapScorer(),
        out=tmp_path / "run",
    )
    return tmp_path / "run"


def alter(folder: Path, metric: str, change: Any) -> list[str]:
    """Alter one stored record of a run by hand; gives the fields that the audit names."""
    file = folder / "records.jsonl"
    lines = [plain(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for fields in lines:
        if fields["metric"] == metric:
            change(fields)
    file.write_text(
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), encoding="utf-8"
    )
    return [difference.field for _, found in Run.load(folder).audit() for difference in found]


@pytest.mark.parametrize(
    ("kept", "named"),
    [
        # the word of one vote is not the majority's
        ({"declined": False, "reason": "it answers", "path": "1.1.1"}, ["abstained"]),
        ({"declined": True, "reason": "nobody said so", "path": "1.1.1"}, ["abstained"]),
    ],
)
def test_that_the_answer_declines_follows_from_the_majority_of_votes(tmp_path, kept, named):
    votes = [("it cannot tell", "yes"), ("it cannot tell", "yes"), ("it answers", "no")]
    declining = [{"verdicts": [{"number": 1, "reason": reason, "verdict": vote}]} for reason, vote in votes]
    evaluate(
        [SAMPLE],
        metrics="abstention",
        judge=ScriptedJudge({"declining": declining, "sufficiency": REPLIES["chunk_verdicts"]}),
        repeats=3,
        out=tmp_path / "run",
    )
    fields = alter(tmp_path / "run", "abstention", lambda record: record.update(abstained=kept))
    # the seal tells any alteration; what matters here is whether the rest follows from the replies
    assert sorted({field.partition(".")[0] for field in fields} - {"digest"}) == named


def _reply(record, before, after):
    record["steps"][1]["reply"] = record["steps"][1]["reply"].replace(before, after)


@pytest.mark.parametrize(
    ("metric", "change", "named"),
    [
        ("faithfulness", lambda record: record.update(value=0.9), {"value"}),
        ("faithfulness", lambda record: record["counts"].update(supported=2), {"counts.supported"}),
        ("faithfulness", lambda record: record.update(formula="2 / 2 = 1"), {"formula"}),
        (
            "faithfulness",
            lambda record: record["verdicts"][1].update(supported=True),
            {"verdicts[2].supported"},
        ),
        (
            "faithfulness",
            lambda record: record["verdicts"][0].update(reason="no idea"),
            {"verdicts[1].reason"},
        ),
        # what the reply means, with all that follows from it; and a blank in it
        (
            "faithfulness",
            lambda record: _reply(record, '"no"', '"yes"'),
            {"steps[2].reply_digest", "verdicts[2].supported", "value", "formula"},
        ),
        ("faithfulness", lambda record: _reply(record, "{", "{ "), {"steps[2].reply_digest"}),
        ("faithfulness", lambda record: record["steps"][0].update(rule="numbered"), {"steps[1].rule"}),
        ("faithfulness", lambda record: record.update(status="undefined"), {"status"}),
        # of which no record can be made
        ("faithfulness", lambda record: record.update(status="splendid"), {"record"}),
        ("answer_similarity", lambda record: record["steps"][0].update(cosines=[0.123]), {"value"}),
        ("answer_correctness", lambda record: record["parts"][0].update(value=1.0), {"parts[1].value"}),
    ],
)
def test_an_altered_field_is_named_and_the_other_records_are_proved(folder, metric, change, named):
    assert named <= set(alter(folder, metric, change))
    assert {key.signature.partition("/")[0] for key, _ in Run.load(folder).audit()} == {metric}


@pytest.mark.parametrize("name", ["judge", "embedder", "versions"])
def test_what_cannot_be_derived_is_sealed(folder, name):
    value = {"ragmetrics": "9"} if name == "versions" else "another model"
    assert alter(folder, "answer_relevance", lambda record: record.update({name: value})) == ["digest"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda line: line["verdicts"]["supported"].__setitem__(1, True), "verdicts[2].supported"),
        (
            lambda line: line["steps"][0].update(value={"statements": ["Einstein sang."]}),
            "steps[1].value",
        ),
        (lambda line: line.update(notes=["verdict 3 was left out"]), "notes"),
        (lambda line: line.update(value=1.0), "value"),
    ],
)
def test_a_line_that_was_altered_as_it_is_stored_and_sealed_anew_is_named(folder, change, named):
    file = folder / "records.jsonl"
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    (line,) = (each for each in lines if each["signature"] == "faithfulness/strict.1")
    change(line)
    bodies = ({name: each for name, each in line.items() if name != "digest"} for line in lines)
    file.write_bytes(b"".join(sealed_line(to_json(body)) + b"\n" for body in bodies))
    found = dict(Run.load(folder).audit())
    # all other lines are as they were, but for the digest over them
    assert [key.sample_id for key in found] == ["q1"]
    assert named in "".join(each.field for each in found[Key("q1", "faithfulness/strict.1")])


def test_a_judge_that_answers_garbage_leaves_records_without_a_difference(tmp_path):
    run = evaluate(
        [SAMPLE],
        metrics=MEASURABLE,
        judge=lambda _: "lorem ipsum ◊◊◊ { [",
        embedder=HashEmbedder(),
        scorer=OverlapScorer(),
        out=tmp_path / "r",
    )
    statuses = {record.metric: record.status for record in run.records()}
    assert statuses["faithfulness"] == "parse_error"
    assert list(Run.load(tmp_path / "r").audit()) == []


@pytest.mark.parametrize(
    ("name", "before", "after", "named"),
    [
        ("prompts.jsonl", "Decide for each numbered", "Agree with each numbered", "prompts"),
        ("samples.jsonl", "20 March", "14 March", "sample"),
    ],
)
def test_an_altered_prompt_or_sample_is_named(folder, name, before, after, named):
    file = folder / name
    assert list(Run.load(folder).audit()) == []
    file.write_text(file.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
    differences = [difference for _, found in Run.load(folder).audit() for difference in found]
    assert named in {difference.field.split("[")[0] for difference in differences}


@pytest.mark.parametrize(
    ("number", "decision", "message"), [(3, True, "has verdicts 1 to 2, not 3"), (2, "maybe", "not 'maybe'")]
)
def test_a_decision_is_true_or_false_about_a_verdict_that_there_is(folder, number, decision, message):
    with pytest.raises(ConfigError, match=message):
        Run.load(folder).correct("q1", "faithfulness", number, cast("bool", decision))


def test_a_number_may_differ_by_rounding_and_by_no_more(folder):
    record = Run.load(folder).score("q1", "answer_similarity")
    rounded = record.model_copy(update={"value": nextafter(record.value, 2)})
    altered = record.model_copy(update={"value": record.value + 1e-12})
    assert audit(rounded) == []
    assert [difference.field for difference in audit(altered)] == ["value"]


def test_recompute_needs_no_model_and_gives_the_same_score(folder):
    for record in Run.load(folder).records():
        assert recompute(record).value == record.value


def test_a_record_without_its_sample_says_so(folder):
    line = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()[0]
    with pytest.raises(
        RecordError, match="lacks its sample; read it through its run, or save it self-contained"
    ):
        recompute(Record.from_json(line))


def test_a_self_contained_record_is_enough(folder):
    record = self_contained(Run.load(folder).score("q1", "faithfulness"))
    mailed = Record.from_json(record.model_dump_json(by_alias=True))
    assert recompute(mailed).value == record.value
    assert audit(mailed) == []


def test_the_exact_prompt_of_a_step_can_be_shown(folder):
    record = Run.load(folder).score("q1", "faithfulness")
    system, user = rendered(record, next(record.generate_steps))
    assert system.role == "system"
    assert "<answer>\n[sentence 1] Einstein was born in Germany on 20 March 1879.\n</answer>" in user.content
    with pytest.raises(RecordError, match="sent a different prompt from its record"):
        rendered(record.model_copy(update={"rendered_prompts": {}}), next(record.generate_steps))


def test_a_later_format_is_refused_plainly():
    with pytest.raises(
        RecordError, match="the record has format 3; this version of ragmetrics reads up to 2"
    ):
        Record.from_json('{"schema": 3}')


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": 1}', '{"schema": 2}', "\x00"])
def test_what_is_no_record_is_a_clear_error(text):
    with pytest.raises(RecordError, match="not a record"):
        Record.from_json(text)


def test_unknown_fields_of_a_record_are_kept(folder):
    fields = json.loads((folder / "records.jsonl").read_bytes().splitlines()[0])
    record = Record.from_json(json.dumps({**fields, "colour": "blue"}))
    assert json.loads(record.stored())["colour"] == "blue"


def test_rescore_applies_another_variant_of_the_same_prompts():
    # context precision under ragas-0.4: (1/1) / (1 + 1e-10)
    record = evaluate([SAMPLE], metrics="context_precision", judge=judged()).score("q1", "context_precision")
    assert record.value == 1.0
    assert rescore(record, variant="ragas-0.4").value == pytest.approx(1 / (1 + 1e-10), abs=1e-15)


def test_rescore_refuses_a_variant_that_asks_other_prompts(folder):
    with pytest.raises(
        ConfigError, match=r"the record answers statements.v5, not paper_statements.v2: evaluate again"
    ):
        rescore(Run.load(folder).score("q1", "faithfulness"), variant="paper")


def test_rescore_takes_settings(folder):
    # precision alone: 1 of 2 answer statements
    record = Run.load(folder).score("q1", "factual_correctness")
    assert rescore(record, mode="precision").formula == "1 / 2 = 0.5"


def test_the_seal_of_a_line_holds_for_a_reader_that_knows_more_fields(folder):
    # a later version with one more field writes other lines; those of today must not look altered to it
    line = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()[0]
    read = Record.from_json(line).model_copy(update={"colour": "blue"})
    assert read.seal == read.digest


def test_diff_names_the_flipped_verdict_and_what_it_did():
    flipped = {"verdicts": [{"number": 1, "verdict": "yes"}, {"number": 2, "verdict": "yes"}]}
    before = evaluate([SAMPLE], metrics="faithfulness", judge=judged()).score("q1", "faithfulness")
    after = evaluate([SAMPLE], metrics="faithfulness", judge=judged({"verdicts": flipped})).score(
        "q1", "faithfulness"
    )
    found = diff(before, after)
    assert [str(change) for change in found.flipped] == [
        "~ not supported → supported: Einstein was born on 20 March 1879."
    ]
    assert found.moved == 0.5
    assert (found.added, found.removed, found.reworded) == ((), (), ())


def test_diff_pairs_reworded_statements_and_lists_the_others():
    other = {"statements": ["Einstein was born in Germany", "Einstein liked music."], "declined": False}
    before = evaluate([SAMPLE], metrics="faithfulness", judge=judged()).score("q1", "faithfulness")
    after = evaluate([SAMPLE], metrics="faithfulness", judge=judged({"statements": other})).score(
        "q1", "faithfulness"
    )
    found = diff(before, after)
    assert [(change.before.text, change.after.text) for change in found.reworded] == [
        ("Einstein was born in Germany.", "Einstein was born in Germany")
    ]
    assert [change.before.text for change in found.removed] == ["Einstein was born on 20 March 1879."]
    assert [change.after.text for change in found.added] == ["Einstein liked music."]


def test_a_person_overrules_a_verdict_and_the_record_keeps_both(folder):
    run = Run.load(folder)
    score = run.correct("q1", "faithfulness", 2, True, by="Ada")
    # both statements are supported now: 2/2
    assert score.formula == "2 / 2 = 1"
    verdict = score.verdicts[1]
    assert (verdict.supported, verdict.overruled) == (True, False)
    assert score.corrections[0].by == "Ada"
    again = Run.load(folder)
    assert again.score("q1", "faithfulness").value == 1.0
    assert list(again.audit()) == []


def test_a_run_with_prompts_of_ones_own_proves_itself_when_it_is_opened_again(tmp_path):
    own = tmp_path / "prompts"
    own.mkdir()
    text = '## user\nMINE {{ question }} {{ answer }} JSON: {"statements": [], "declined": false}'
    (own / "statements.v9.md").write_text(text, encoding="utf-8")
    metrics = ["faithfulness", "factual_correctness", "answer_correctness"]
    evaluate(
        [SAMPLE], metrics=metrics, judge=judged(), embedder=HashEmbedder(), prompts=own, out=tmp_path / "run"
    )
    run = Run.load(tmp_path / "run")
    before = run.score("q1", "faithfulness")

    assert list(run.audit()) == []
    corrected = run.correct("q1", "faithfulness", 2, True)
    # who looks for the score finds it under the name that it had
    assert (corrected.signature, corrected.settings) == (before.signature, before.settings)
    assert list(Run.load(tmp_path / "run").audit()) == []
    renamed = before.model_copy(update={"settings": {}})
    assert next(difference.field for difference in audit(renamed)) == "signature"


@pytest.mark.parametrize(
    ("metric", "replies"),
    [
        (
            ContextRelevance(extract=prompts.PAPER_SENTENCES),
            {"paper_sentences": "He played the violin.\nEND"},
        ),
        (
            FactualCorrectness(classify=prompts.PAPER_FACTS),
            {"paper_facts": {"TP": ["Born in Germany."], "FP": [], "FN": ["Born in 1879."]}},
        ),
        (
            GroundednessRating(grade=prompts.GROUNDING_GRADE),
            {"grounding_grade": {"reason": "it is", "rating": 2}},
        ),
    ],
)
def test_a_prompt_given_by_hand_where_the_variant_asks_none_proves_itself(metric, replies):
    run = evaluate([SAMPLE], metrics=metric, judge=ScriptedJudge(replies))
    (record,) = run.records()
    assert record.status == "ok"
    assert audit(record) == []


def test_a_correction_reaches_a_part_of_a_composite_metric(folder):
    # FacCor 1/2 and 1/2 → P 1, R 1/2, F1 = 2 x 1 x 0.5 / 1.5 = 0.667
    score = Run.load(folder).correct("q1", "answer_correctness", 2, True)
    assert score.parts[0].formula == "F1 of P 2 / 2 and R 1 / 2 = 0.667"


def test_the_second_decision_of_a_person_replaces_the_first(folder):
    run = Run.load(folder)
    run.correct("q1", "faithfulness", 2, True)
    score = run.correct("q1", "faithfulness", 2, False)
    assert score.value == 0.5
    assert len(score.corrections) == 1


@pytest.mark.parametrize(
    "reply",
    ['{"statements": ["\\ud800 Paris."], "declined": false}', "\ud800", "1. \udfff\n2. b", "\x00\x1b[31m"],
)
def test_half_characters_in_a_reply_are_stored_and_proved(tmp_path, reply):
    run = evaluate(
        [SAMPLE], metrics="faithfulness", judge=judged({"statements": reply}), out=tmp_path / "run"
    )
    assert next(run.score("q1", "faithfulness").generate_steps).reply == reply
    assert list(Run.load(tmp_path / "run").audit()) == []

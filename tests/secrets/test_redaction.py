"""What `redact` takes out is nowhere: in no file, no score, no log, however the judge misbehaves."""

import json
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Run, Sample, evaluate, write_report
from ragmetrics_core.boundary.redaction import redacted_reply
from ragmetrics_core.errors import ConfigError, ModelError, SampleError
from ragmetrics_core.journal import Journal
from ragmetrics_core.metrics import METRICS
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs import export_wave, import_replies, merge
from ragmetrics_core.runs.verdict_log import verdict_rows, write_csv, write_jsonl
from ragmetrics_core.testing import HashEmbedder, OverlapScorer, RandomJudge, ScriptedJudge
from tests.secrets.planted import NAME, SAMPLE, found, held, shown, without_name

ALL = [
    f"{name}/{variant}"
    for name, kind in METRICS.items()
    for variant in kind.variants
    if all(find_spec(module) for module, _ in getattr(kind, "packages", ()))
]


def private(number: int) -> dict[str, Any]:
    """A row that holds the name wherever a row can hold a text."""
    return {
        "id": f"{NAME} {number}",
        "question": f"What did {NAME} find in Ulm, case {number}?",
        "answer": f"{NAME} found the violin [1]. It was made in 1879. Ask {NAME}.",
        "contexts": [f"{NAME} found a violin.", f"It stood in Ulm. {NAME} knew it."],
        "reference": f"{NAME} found the violin of 1879.",
        "references": [f"{NAME} found the violin of 1879.", f"A violin, {NAME} says."],
        "reference_contexts": [f"{NAME} found a violin."],
        "context_ids": [f"by {NAME}", f"of {NAME}"],
        "reference_context_ids": [f"by {NAME}"],
        "history": [{"role": NAME, "content": f"I am {NAME}."}],
        "language": "en",
        "labels": {NAME: NAME, "by": f"{NAME} & co", "n": 3},
        "comments": [{"from": NAME}],
    }


class Gossip(RandomJudge):
    """A judge that knows the name and brings it into everything: replies, broken replies and errors."""

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        (reply,) = (await super().agenerate(request))[:1]
        fields = json.loads(reply.text)
        plain = json.dumps(fields, ensure_ascii=False).replace("Einstein", NAME.replace('"', '\\"'))
        escaped = json.dumps(json.loads(plain))
        told = [
            plain,
            escaped,
            f"Here it is, says {NAME}:\n```json\n{escaped}\n```",
            escaped.replace("/", "\\/"),
            f"1. Yes, {NAME}. 2. No. {escaped[: len(escaped) // 2]}",
            f'"{NAME}\\',
            ModelError(f"the server knows no {NAME}"),
            ValueError(f"{NAME} is no number"),
            TimeoutError(f"{NAME} is late"),
        ][len(self.asked) * 7 % 9]
        if isinstance(told, Exception):
            raise told
        return [
            Completion(text=told, model=f"model of {NAME}"),
            *[Completion(text=plain)] * (request.draws - 1),
        ]


def test_a_private_name_is_nowhere_whatever_is_measured_and_however_the_judge_misbehaves(tmp_path: Path):
    pytest.importorskip("scipy", reason="needs the extra report: pip install 'ragmetrics-core[report]'")
    rows = [private(number) for number in range(2)]
    assert found(json.dumps(rows), NAME), "the name can be found where it is"

    run = evaluate(
        rows,
        metrics=ALL,
        judge=Gossip(2),  # of a sample with two references one is judged, the other fails
        embedder=HashEmbedder(),
        scorer=OverlapScorer(),
        out=tmp_path / "run",
        attempts=1,
        concurrency=1,
        repeats=2,
        redact=without_name,
    )
    write_report(run, tmp_path / "report.html")
    with (tmp_path / "verdicts.jsonl").open("w") as lines, (tmp_path / "verdicts.csv").open("w") as table:
        write_jsonl(verdict_rows(run.records()), lines)
        write_csv(verdict_rows(run.records()), table)

    assert held(tmp_path, NAME) == {}
    assert found(shown(list(run.records())) + shown(run.to_rows()) + shown(run.manifest), NAME) == []
    statuses = {record.status for record in run.records()}
    assert {"ok", "parse_error", "model_error", "timeout"} <= statuses
    assert any("[name]" in step.reply for record in run.records() for step in record.generate_steps)
    # the proof still holds: prompts and replies are those of the redacted sample
    assert dict(Run.load(tmp_path / "run").audit()) == {}


def test_going_on_with_a_run_finds_its_samples_again(tmp_path: Path):
    def go() -> Run:
        judge = ScriptedJudge(lambda request: {"statements": [], "declined": False})
        return evaluate(
            [private(1), private(2)],
            metrics="faithfulness",
            judge=judge,
            out=tmp_path / "run",
            redact=without_name,
        )

    first = {record.sample_id for record in go().records()}
    again = go()

    assert {record.sample_id for record in again.records()} == first
    assert len(again) == len(first) == 2
    assert list(again.rejected) == []


@pytest.mark.parametrize(
    "row",
    [
        {**SAMPLE, "question": [f"{'x' * 45} {NAME}"]},
        {**SAMPLE, "contexts": {NAME: NAME}},
        {**SAMPLE, "answer": f"One of {NAME}", "response": f"Another of {NAME}"},
        {NAME: NAME},
        {**SAMPLE, "reference_context_grades": [NAME]},
        {**SAMPLE, "history": [f"{'x' * 45} {NAME}"]},
        {**SAMPLE, "note": object()},
    ],
)
def test_what_is_said_of_a_row_that_is_no_sample_does_not_quote_what_is_private(
    row: Mapping[str, object], tmp_path: Path
):
    run = evaluate(
        [SAMPLE, row], metrics="faithfulness", judge="embedded", out=tmp_path / "run", redact=without_name
    )

    (rejected,) = run.rejected
    assert rejected.where == "row 2"
    assert held(tmp_path, NAME) == {}
    # not even a part of it, which a message that is cut may show
    assert "Zo" not in rejected.message


def test_two_rows_that_redaction_makes_the_same_are_both_measured(tmp_path: Path):
    rows = [{"question": f"Where is {each}?", "answer": "In Ulm."} for each in (NAME, "[name]")]
    run = evaluate(rows, metrics="answer_similarity", embedder=HashEmbedder(), redact=without_name)

    first, second = run.samples()
    assert (second.id, second.question) == (f"{first.id}-2", first.question)


def test_a_file_that_is_no_data_is_refused_without_its_contents(tmp_path: Path):
    file = tmp_path / "data.csv"
    file.write_text(f"{NAME.replace(chr(34), '')},1\nx,2\n", encoding="utf-8")

    with pytest.raises(SampleError) as raised:
        evaluate(file, judge="embedded", redact=lambda text: text.replace("Zoë", "[name]"))

    assert "Zoë" not in str(raised.value)


def test_a_shared_cache_that_holds_private_replies_brings_none_into_a_run(tmp_path: Path):
    row = {"id": "1", "question": "Who?", "answer": "Somebody.", "contexts": ["Somebody."]}
    judge = ScriptedJudge(lambda request: {"statements": [f"It was {NAME}."], "declined": False})
    evaluate([row], metrics="faithfulness", judge=judge, cache=tmp_path / "cache.sqlite")
    with Journal(tmp_path / "cache.sqlite") as journal:
        assert len(journal)

    evaluate(
        [row],
        metrics="faithfulness",
        judge=judge,
        cache=tmp_path / "cache.sqlite",
        out=tmp_path / "run",
        redact=without_name,
    )

    assert held(tmp_path / "run", NAME) == {}
    assert dict(Run.load(tmp_path / "run").audit()) == {}


def test_neither_the_requests_of_a_wave_nor_its_replies_hold_what_is_private(tmp_path: Path):
    def export() -> int:
        return export_wave(
            [private(1)],
            tmp_path / "wave.jsonl",
            out=tmp_path / "run",
            metrics="faithfulness",
            judge=ScriptedJudge(lambda request: ""),
            redact=without_name,
        ).waiting

    told = json.dumps({"statements": [f"{NAME} did."], "verdicts": []})
    choice = {"message": {"content": told}, "finish_reason": NAME}
    while export():
        assert held(tmp_path, NAME) == {}
        answers = [
            {"custom_id": each["custom_id"], "response": {"body": {"model": NAME, "choices": [choice]}}}
            for each in map(json.loads, (tmp_path / "wave.jsonl").read_text("utf-8").splitlines())
        ]
        failed = {"custom_id": "0" * 32, "error": {"message": f"no {NAME}"}}
        replies = tmp_path.parent / f"{tmp_path.name}-replies.jsonl"
        replies.write_text("".join(json.dumps(each) + "\n" for each in [*answers, failed]), encoding="utf-8")
        imported = import_replies(tmp_path / "run", replies, redact=without_name)
        assert imported.replies == len(answers)
        assert found(shown(imported), NAME) == []

    assert held(tmp_path, NAME) == {}
    assert (tmp_path / "run" / "records.jsonl").stat().st_size > 0


def test_merging_redacted_runs_gives_a_redacted_run(tmp_path: Path):
    for number in (1, 2):
        evaluate(
            [private(number)],
            metrics="faithfulness",
            judge="embedded",
            out=tmp_path / str(number),
            redact=without_name,
        )

    assert len(merge(tmp_path / "1", tmp_path / "2", out=tmp_path / "both")) == 2
    assert held(tmp_path, NAME) == {}


# -- a function that fails


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (lambda text: text.index(f"not in {text}"), "redact raised ValueError"),
        (lambda text: None, "redact returned NoneType, not text"),
        (lambda text: text.encode(), "redact returned bytes, not text"),
    ],
)
def test_a_function_that_fails_lets_no_sample_through(broken: Any, problem: str, tmp_path: Path):
    with pytest.raises(SampleError, match=problem):
        evaluate([private(1)], metrics="faithfulness", judge="embedded", out=tmp_path / "run", redact=broken)

    run = Run.load(tmp_path / "run")
    assert len(run) == 0
    assert [row.message for row in run.rejected] == [problem]
    assert held(tmp_path, NAME) == {}


def test_a_function_that_fails_on_a_reply_or_an_error_lets_neither_through(tmp_path: Path):
    def fails(text: str) -> str:
        if NAME in text:
            raise ValueError(text)
        return text

    for reply in (f"It was {NAME}.", ModelError(f"no {NAME}")):
        run = evaluate(
            [SAMPLE],
            metrics="faithfulness",
            judge=ScriptedJudge(lambda request, reply=reply: reply),
            out=tmp_path / type(reply).__name__,
            attempts=1,
            redact=fails,
        )
        (record,) = run.records()
        assert record.status == "model_error"
        assert record.reason is not None
        assert record.reason.endswith("redact raised ValueError")

    assert held(tmp_path, NAME) == {}


# -- samples and replies


def test_the_order_of_chunks_and_which_of_them_are_relevant_survive_redaction():
    sample = Sample(
        question="Who?",
        context_ids=("ann@x", "bob@x", "tea", "ann@x"),
        reference_context_ids=("bob@x", "none"),
    )

    without = sample.redacted(lambda text: "[mail]" if "@" in text else text)

    # ann is the first [mail], bob the second
    assert without.context_ids == ("[mail]", "[mail] 2", "tea", "[mail]")
    assert without.reference_context_ids == ("[mail] 2", "none")


def test_an_id_that_holds_what_is_private_gives_way_to_that_of_the_content():
    sample = Sample(id="ann@x", question="Who?", labels={"ann@x": "ann@x", "bob@x": 2.0})

    without = sample.redacted(lambda text: "[mail]" if "@" in text else text)

    assert without.id == Sample(question="Who?", labels=without.labels).id
    assert without.labels == {"[mail]": "[mail]", "[mail] 2": 2.0}
    assert sample.redacted(lambda text: text.replace("Who", "[who]")).id == "ann@x"


def test_what_the_escapes_of_a_label_hide_is_taken_out_too():
    # other columns become labels as JSON text, in which a line break is the two characters \\n
    sample = Sample.from_mapping({"question": "Who?", "by": ["Ann\nLee"], "of": {"at": '\tAnn "A" Lee'}})

    without = sample.redacted(lambda text: re.sub(r'Ann(\s|"A")+Lee', "[name]", text))

    assert without.labels == {"by": '["[name]"]', "of": '{"at": "\\t[name]"}'}


texts = st.text(alphabet='ab"\\/u0061 ', max_size=12)


@given(st.builds(Sample, id=texts.filter(bool), question=texts, contexts=st.lists(texts).map(tuple)))
def test_redacting_twice_is_redacting_once(sample: Sample):
    once = sample.redacted(lambda text: text.replace("a", "-"))

    assert once.redacted(lambda text: text.replace("a", "-")) == once
    assert "a" not in f"{once.question}{once.contexts}"


@given(
    st.lists(st.sampled_from([NAME, " ", '"', "\\", "x", "\n", "ë"]), max_size=6).map("".join), st.booleans()
)
def test_a_reply_that_is_json_stays_json_and_loses_the_name(text: str, ascii_only: bool):
    reply = json.dumps({"reason": text, NAME: [text]}, ensure_ascii=ascii_only)

    without = redacted_reply(without_name, reply)

    read = json.loads(without)
    assert read == {"reason": text.replace(NAME, "[name]"), "[name]": [text.replace(NAME, "[name]")]}


@given(st.text(alphabet='\\"u0041n{}[]:, A', max_size=60))
def test_no_reply_keeps_what_reading_it_would_bring_back(reply: str):
    without = redacted_reply(lambda text: text.replace("A", ""), reply)

    assert "A" not in without
    try:
        read = json.loads(without)
    except ValueError:
        return
    assert "A" not in str(read)


def test_a_redacted_run_is_not_gone_on_with_in_clear(tmp_path: Path):
    first = {"id": "a", "question": f"Who is {NAME}?", "answer": "A physicist."}
    second = {"id": "b", "question": f"Where is {NAME}?", "answer": "In Ulm."}
    options: Mapping[str, Any] = {
        "metrics": "answer_relevance_rating",
        "judge": RandomJudge(1),
        "out": tmp_path / "run",
    }
    evaluate([first], redact=without_name, **options)

    with pytest.raises(ConfigError, match="its texts are redacted, and no redact is given"):
        evaluate([first, second], **options)

    assert NAME not in (tmp_path / "run" / "samples.jsonl").read_text("utf-8")
    assert len(evaluate([first, second], redact=without_name, **options)) == 2

"""A judge that answers by file: whatever way the replies come back, the run is the one it would be online."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ConfigError, ModelError, RecordError
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.protocol import Completion, Generate, Usage
from ragmetrics_core.runs import Imported, export_wave, import_replies
from ragmetrics_core.runs.lock import FolderLock
from ragmetrics_core.testing import HashEmbedder, OverlapScorer, ScriptedJudge
from ragmetrics_core.testing.random_judge import Filler
from tests.catalogue import EVERY, MEASURABLE

# the models beside the judge
OTHERS = {"embedder": HashEmbedder(), "scorer": OverlapScorer()}
SAMPLE = {
    "id": "q1",
    "question": "Where was Einstein born?",
    "answer": "Einstein was born in Ulm in 1879. He played the violin.",
    "contexts": ["Albert Einstein was born in Ulm. It lies on the Danube.", "He studied physics in Zurich."],
    "reference": "Einstein was born in Ulm, in Germany, in 1879.",
}
ROWS: list[dict[str, Any]] = [
    SAMPLE,
    {**SAMPLE, "id": "q2", "answer": "In Ulm.", "contexts": ["In Zürich, \U0001f3bb."]},
    {"id": "q3", "question": "Who?", "answer": "Nobody knows.", "contexts": ["Nobody."]},
]
STATEMENTS = '{"statements": ["He was born in Ulm."], "declined": false}'
VERDICTS = '{"verdicts": [{"number": 1, "verdict": "yes"}]}'
BOTH = {"statements": STATEMENTS, "verdicts": VERDICTS}

Requests = list[dict[str, Any]]
Give = Callable[[dict[str, Any]], Completion]


class AnyJudge(ScriptedJudge):
    """Answers any prompt at random, a draw always the same; verdicts are missing, some replies garbage."""

    def __init__(self, seed: int = 0, identity: str = "any") -> None:
        super().__init__({}, identity=identity)
        self.seed = seed
        self.given: dict[tuple[str, int], Completion] = {}

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        self.asked.append(request)
        chance = random.Random(f"{self.seed} {request.digest} {request.draw}")
        values = Filler(request, self.seed, complete=chance.random() < 0.5).model(request.prompt.answer)
        text = json.dumps(values) if chance.random() > 0.05 else "I cannot."
        usage = Usage(chance.randint(1, 99), 7)
        reply = Completion(text=text, model="served", usage=usage, finish_reason="stop")
        self.given[request.digest, request.draw] = reply
        return [reply]


class ByFile(ScriptedJudge):
    """A judge that must not be asked by a call; it notes in a request what its reply depends on."""

    def __init__(self, identity: str = "any") -> None:
        super().__init__({}, identity=identity)

    def body(self, request: Generate[Any]) -> Mapping[str, object]:
        return {
            "by": self.identity,
            "digest": request.digest,
            "draw": request.draw,
            "prompt": request.prompt.name,
        }

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        raise AssertionError("the judge is asked by file")


def requests_in(path: Path) -> Requests:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def batch_line(request: Mapping[str, Any], reply: Completion) -> dict[str, Any]:
    """A reply as a batch interface gives it back."""
    assert reply.usage
    choice = {
        "index": 0,
        "finish_reason": reply.finish_reason,
        "message": {"role": "assistant", "content": reply.text},
    }
    body = {"object": "chat.completion", "model": reply.model, "choices": [choice]}
    body["usage"] = {**reply.usage._asdict(), "total_tokens": sum(reply.usage)}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}


def failed_line(request: Mapping[str, Any], message: str = "overloaded") -> dict[str, Any]:
    response = {"status_code": 500, "body": {"error": {"message": message}}}
    return {"custom_id": request["custom_id"], "response": response, "error": None}


def plain_line(request: Mapping[str, Any], text: str) -> dict[str, Any]:
    return {"custom_id": request["custom_id"], "reply": text}


def write(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def records(run: Run) -> dict[tuple[str, str], Any]:
    """What is on record of each score: value, verdicts, replies and all else."""
    return {(each.sample_id, each.signature): json.loads(each.stored()) for each in run.records()}


class Post:
    """A run that is asked by file: `export`, `take` replies, and so on.

    Args:
        folder: where everything is.
        rows: the samples.
        judges: the judges.
        arguments: the others of the run.
    """

    def __init__(
        self, folder: Path, rows: Sequence[Any] = ROWS, judges: Sequence[Any] = (ByFile(),), **arguments: Any
    ) -> None:
        self.out = folder / "run"
        self.requests = folder / "wave.jsonl"
        self.replies = folder / "replies.jsonl"
        self.rows = rows
        self.arguments = {"panel": judges, **OTHERS, **arguments}
        self.waves = 0
        self.run: Run

    def export(self) -> Requests:
        """The open requests."""
        self.waves += 1
        assert self.waves < 100, "the run never becomes complete"
        wave = export_wave(self.rows, self.requests, out=self.out, **self.arguments)
        found = requests_in(self.requests)
        assert len(found) == wave.waiting
        self.run = wave.run
        return found

    def take(self, *lines: Mapping[str, Any]) -> Imported:
        """Read replies back."""
        return import_replies(self.out, write(self.replies, lines))

    def until_complete(self, give: Give) -> None:
        """Answer wave after wave as a batch interface would."""
        while requests := self.export():
            self.take(*(batch_line(each, give(each["body"])) for each in requests))

    @property
    def status(self) -> str:
        """How the first sample's faithfulness ended."""
        return Run.load(self.out).score("q1", "faithfulness").status


@pytest.fixture
def post(tmp_path: Path) -> Post:
    """A run of one metric on one sample: a call for its statements, then one for the verdict on them."""
    return Post(tmp_path, [SAMPLE], metrics="faithfulness")


def scripted(request: Mapping[str, Any]) -> dict[str, Any]:
    """The reply of a person to a request of `post`."""
    return plain_line(request, BOTH[request["body"]["prompt"]])


def online(judges: Sequence[AnyJudge], rows: Sequence[Any] = ROWS, **arguments: Any) -> tuple[Run, Give]:
    """The run that asks the judges by calls, and their replies by what stands in a request's body."""
    run = evaluate(rows, panel=judges, **{**OTHERS, **arguments})
    given = {
        (judge.identity, digest, draw): reply
        for judge in judges
        for (digest, draw), reply in judge.given.items()
    }
    return run, lambda body: given[body["by"], body["digest"], body["draw"]]


# -- the same run


@pytest.mark.parametrize("metric", EVERY)
def test_every_metric_has_the_records_that_the_run_online_has(tmp_path, metric):
    run, give = online([AnyJudge(1)], metrics=metric)
    post = Post(tmp_path, metrics=metric)

    post.until_complete(give)

    assert records(post.run) == records(run)
    assert post.run.finished
    assert list(post.run.audit()) == []


@settings(max_examples=6)
@given(
    seed=st.integers(0, 2**32),
    metrics=st.lists(st.sampled_from(MEASURABLE), min_size=1, max_size=5, unique=True),
    judges=st.integers(1, 3),
    repeats=st.integers(1, 3),
    full_repeats=st.integers(1, 2),
)
def test_in_pieces_twice_failing_and_mixed_with_others_the_replies_make_the_same_run(
    tmp_path_factory, seed, metrics, judges, repeats, full_repeats
):
    arguments = {"metrics": metrics, "repeats": repeats, "full_repeats": full_repeats}
    names = [f"judge {number}" for number in range(judges)]
    run, give = online([AnyJudge(seed, name) for name in names], **arguments)
    post = Post(tmp_path_factory.mktemp("waves"), judges=[ByFile(name) for name in names], **arguments)
    chance = random.Random(seed)
    answered: list[dict[str, Any]] = []

    while requests := post.export():
        assert not {each["custom_id"] for each in requests} & {each["custom_id"] for each in answered}
        good = [each for each in requests if chance.random() < 0.7]
        bad = [each for each in requests if each not in good and chance.random() < 0.5]
        again = chance.sample(good, k=len(good) // 2) + chance.sample(answered, k=len(answered) // 4)
        others = [{"custom_id": digit * 32} for digit in "abc"[: chance.randint(0, 3)]]
        lines = [batch_line(each, give(each["body"])) for each in (*good, *again)]
        lines += [failed_line(each) for each in bad] + [plain_line(each, "?") for each in others]
        found = post.take(*lines)
        waiting = len(requests) - len(good)
        assert found == (
            len(good),
            len(bad),
            found.reason,
            len(again) + len(others),
            waiting,
        )
        answered += good

    assert records(post.run) == records(run)
    assert list(post.run.audit()) == []


def test_a_function_without_a_name_that_stays_cannot_be_asked_by_file(tmp_path):
    # the replies to it would never be found again: each wave would be the first one
    with pytest.raises(ConfigError, match=r"<lambda> could not be found again.*CallableJudge"):
        export_wave(
            [SAMPLE],
            tmp_path / "wave.jsonl",
            out=tmp_path / "run",
            metrics="faithfulness",
            judge=lambda prompt: "yes",
        )
    assert list(tmp_path.iterdir()) == []


def test_a_bad_reply_does_not_cut_short_what_is_asked_beside_it(tmp_path):
    # The first wave brings garbage for one part's statements, and what another part's verdicts are about.
    # The run online asks for these, too, before it gives the sample up.
    def reply(prompt: str) -> str:
        verdicts = json.dumps({"verdicts": [{"number": number, "verdict": "yes"} for number in (1, 2)]})
        questions = json.dumps({"questions": ["Where was he born?"]})
        texts = {"statements": "I cannot.", "questions": questions, "reference_statements": STATEMENTS}
        return texts.get(prompt, verdicts)

    judge = ScriptedJudge(lambda request: reply(request.prompt.name), identity="any")
    run = evaluate([SAMPLE], metrics="ragas_score", judge=judge, embedder=HashEmbedder())
    post = Post(tmp_path, [SAMPLE], metrics="ragas_score")
    while requests := post.export():
        post.take(*(plain_line(each, reply(each["body"]["prompt"])) for each in requests))
    assert run.score("q1", "ragas_score").status == "parse_error"
    assert records(post.run) == records(run)
    assert list(post.run.audit()) == []


def test_a_bad_reply_is_asked_for_once_for_all_samples_that_share_it(tmp_path):
    rows = [SAMPLE, {**SAMPLE, "id": "q2", "answer": "In Bern."}]
    post = Post(tmp_path, rows, metrics="factual_correctness")
    requests = post.export()
    of_reference = next(each for each in requests if each["body"]["prompt"] == "reference_statements")
    one, two = (each for each in requests if each is not of_reference)
    # the second sample has all its replies a wave before the first one
    post.take(plain_line(of_reference, "I cannot."), scripted(two))
    assert [each["custom_id"] for each in post.export()] == [one["custom_id"]]
    post.take(scripted(one))
    assert post.export() == []
    assert post.run.mean("factual_correctness").statuses == {"parse_error": 2}


def test_a_persons_plain_replies_give_the_same_values_verdicts_and_replies(tmp_path):
    run, give = online([AnyJudge(3)])
    post = Post(tmp_path)
    while requests := post.export():
        post.take(*(plain_line(each, give(each["body"]).text) for each in requests))

    for one in run.records():
        other = post.run.record(one.sample_id, one.signature)
        assert (other.status, other.value, other.verdicts) == (one.status, one.value, one.verdicts)
        assert [step.reply for step in other.generate_steps] == [step.reply for step in one.generate_steps]


def test_statements_and_their_verdicts_are_two_waves(post):
    (first,) = post.export()
    assert (first["body"]["prompt"], post.status, post.run.finished) == ("statements", "cancelled", False)
    post.take(scripted(first))
    (second,) = post.export()
    assert (second["body"]["prompt"], post.status) == ("verdicts", "cancelled")
    post.take(scripted(second))
    assert post.export() == []
    assert (post.run.score("q1", "faithfulness").value, post.run.finished) == (1.0, True)


def test_all_votes_of_a_verdict_are_in_one_wave(tmp_path):
    judges = [ByFile(name) for name in ("one", "two", "three")]
    post = Post(tmp_path, [SAMPLE], judges, metrics="faithfulness", repeats=2)
    (first,) = post.export()
    post.take(scripted(first))
    votes = [(each["body"]["by"], each["body"]["draw"]) for each in post.export()]
    assert sorted(votes) == [(name, draw) for name in ("one", "three", "two") for draw in (0, 1)]


def test_a_request_that_several_metrics_or_samples_make_is_written_once(tmp_path):
    rows = [SAMPLE, {**SAMPLE, "id": "q2"}]
    post = Post(tmp_path, rows, metrics=["faithfulness", "faithfulness/ragas-0.4", "factual_correctness"])
    assert sorted(each["body"]["prompt"] for each in post.export()) == ["reference_statements", "statements"]


def test_a_run_by_file_can_go_on_online_and_asks_only_what_is_left(post):
    (first,) = post.export()
    post.take(scripted(first))
    judge = ScriptedJudge(BOTH, identity="any")
    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, **OTHERS, out=post.out)
    assert [request.prompt.name for request in judge.asked] == ["verdicts"]
    assert run.score("q1", "faithfulness").value == 1.0
    assert post.export() == []


def test_a_run_online_can_go_on_by_file(post):
    judge = ScriptedJudge(BOTH, identity="any")
    arguments = {"metrics": "faithfulness", "judge": judge, **OTHERS}
    evaluate([SAMPLE], out=post.out, max_calls=1, **arguments)
    assert [each["body"]["prompt"] for each in post.export()] == ["verdicts"]


def test_what_failed_otherwise_stays_as_it_would_online_until_the_run_is_started_anew(tmp_path):
    class Failing(HashEmbedder):
        calls = 0

        async def aembed(self, texts):
            Failing.calls += 1
            if Failing.calls == 1:
                raise ModelError("down")
            return await super().aembed(texts)

    metrics = ["faithfulness", "answer_similarity"]
    post = Post(tmp_path, [SAMPLE], metrics=metrics, embedder=Failing())
    while requests := post.export():
        post.take(*map(scripted, requests))
    assert (post.run.score("q1", "answer_similarity").status, Failing.calls) == ("model_error", 1)
    assert post.export() == []
    assert (post.run.score("q1", "answer_similarity").status, Failing.calls) == ("ok", 2)


def test_a_reply_that_cannot_be_read_is_a_parse_error_and_is_asked_for_anew_when_the_run_is_over(post):
    (first,) = post.export()
    post.take(plain_line(first, "I cannot."))
    assert post.export() == []
    assert post.status == "parse_error"
    assert [each["custom_id"] for each in post.export()] == [first["custom_id"]]


def test_when_the_run_is_over_no_other_run_is_given_its_bad_replies(tmp_path, post):
    post.arguments["cache"] = cache = tmp_path / "cache.sqlite"
    (request,) = post.export()
    import_replies(post.out, write(post.replies, [plain_line(request, "I cannot.")]), cache=cache)
    assert post.export() == []
    judge = ScriptedJudge(BOTH, identity="any")
    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, cache=cache)
    assert run.score("q1", "faithfulness").status == "ok"


def test_replies_go_into_the_journal_that_the_run_shares(tmp_path, post):
    post.arguments["cache"] = cache = tmp_path / "cache.sqlite"
    while requests := post.export():
        import_replies(post.out, write(post.replies, [scripted(each) for each in requests]), cache=cache)
    judge = ByFile()
    again = evaluate([SAMPLE], metrics="faithfulness", judge=judge, **OTHERS, cache=cache)
    assert records(again) == records(post.run)


# -- requests


def test_a_request_is_a_line_of_the_batch_interface(tmp_path):
    pytest.importorskip("openai", reason="needs the extra openai: pip install 'ragmetrics[openai]'")
    judge = OpenAIJudge("small", api_key="none", seed=5, max_tokens=99)
    post = Post(tmp_path, [SAMPLE], [judge], metrics="faithfulness", full_repeats=2)
    asked = ScriptedJudge(BOTH)
    evaluate([SAMPLE], metrics="faithfulness", judge=asked)
    messages = [message._asdict() for message in asked.asked[0].messages]

    requests = post.export()

    assert len({each["custom_id"] for each in requests}) == 2
    for request, seed in zip(requests, (5, 1005), strict=True):  # each repetition has its own 1000 draws
        body = {"model": "small", "messages": messages, "temperature": 0.0, "max_tokens": 99, "seed": seed}
        assert request == {
            "custom_id": request["custom_id"],
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": body,
        }


def test_a_judge_that_has_no_form_of_its_own_gets_the_bare_messages(tmp_path):
    post = Post(tmp_path, [SAMPLE], [ScriptedJudge({}, identity="a person")], metrics="faithfulness")
    (request,) = post.export()
    assert set(request["body"]) == {"model", "messages"}
    assert request["body"]["model"] == "a person"
    assert SAMPLE["answer"] in request["body"]["messages"][-1]["content"]


def test_a_request_keeps_its_id_from_wave_to_wave(post):
    assert [each["custom_id"] for each in post.export()] == [each["custom_id"] for each in post.export()]


def test_requests_are_written_as_text_that_a_person_can_read(tmp_path):
    judge = ScriptedJudge({}, identity="a person")
    Post(tmp_path, [{**SAMPLE, "answer": "Zürich \U0001f3bb"}], [judge]).export()
    assert "Zürich \U0001f3bb" in (tmp_path / "wave.jsonl").read_text(encoding="utf-8")


def test_a_wave_that_cannot_be_made_leaves_the_last_one_in_its_place(post):
    before = post.export()
    with pytest.raises(ConfigError, match="holds another run"):
        export_wave([SAMPLE], post.requests, out=post.out, metrics="faithfulness", judge=ByFile("other"))

    def broken():
        yield SAMPLE
        raise OSError("the disk went away")

    with pytest.raises(OSError, match="the disk went away"):
        export_wave(broken(), post.requests, out=post.out, **post.arguments)
    assert requests_in(post.requests) == before
    assert sorted(path.name for path in post.requests.parent.iterdir()) == ["run", "wave.jsonl"]
    assert post.take(scripted(before[0])).replies == 1


def test_a_file_that_cannot_be_written_is_named(tmp_path, post):
    post.requests = tmp_path / "missing" / "wave.jsonl"
    with pytest.raises(ConfigError, match=r"wave\.jsonl cannot be written: No such file"):
        post.export()


# -- replies


def test_a_failed_request_stays_open_and_the_first_reason_is_told(tmp_path):
    post = Post(tmp_path, metrics="faithfulness")
    one, two, three = post.export()
    found = post.take(failed_line(one, "too long"), failed_line(two, "expired"), scripted(three))
    assert found == (1, 2, f"{post.replies}, line 1: too long (500)", 0, 2)
    open_now = {each["custom_id"] for each in post.export()}
    assert {one["custom_id"], two["custom_id"]} <= open_now
    assert three["custom_id"] not in open_now


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"response": None, "error": {"code": "batch_expired", "message": "It expired."}}, "It expired."),
        ({"response": None, "error": {"code": "batch_expired"}}, "batch_expired"),
        ({"error": "cancelled"}, "cancelled"),
        ({}, "it has neither a reply nor an error"),
        ({"response": {"status_code": 429, "body": {"error": {"message": "Slowly."}}}}, "Slowly. (429)"),
        ({"response": {"status_code": 500, "body": None}}, "it has neither a reply nor an error (500)"),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "an empty list of choices"),
        ({"response": {"status_code": 200, "body": {}}}, "answered without choices"),
        ({"reply": 3}, "its reply is no text"),
        ({"reply": None}, "its reply is no text"),
    ],
)
def test_whatever_is_no_reply_fails_with_its_reason_and_can_be_answered_later(post, answer, reason):
    (request,) = post.export()
    found = post.take({"custom_id": request["custom_id"], **answer})
    assert (found.replies, found.failed, found.unknown, found.waiting) == (0, 1, 0, 1)
    assert reason in found.reason
    assert post.take(scripted(request)) == (1, 0, None, 0, 0)


def test_an_empty_reply_is_a_reply_that_cannot_be_read(post):
    (request,) = post.export()
    assert post.take(plain_line(request, "")).replies == 1
    post.export()
    assert post.status == "parse_error"


def test_a_reply_that_was_cut_by_the_length_limit_is_no_reply_to_build_on(post):
    (request,) = post.export()
    cut = Completion(text=STATEMENTS, usage=Usage(1, 1), finish_reason="length")
    post.take(batch_line(request, cut))
    post.export()
    assert post.status == "parse_error"


def test_half_a_character_in_a_reply_harms_neither_journal_nor_record(post):
    (request,) = post.export()
    post.take(plain_line(request, '{"statements": ["Half \ud83d a character."]}'))
    post.take(*map(scripted, post.export()))
    post.export()
    assert post.status == "ok"
    assert list(Run.load(post.out).audit()) == []


def test_the_same_file_again_changes_nothing(post):
    requests = post.export()
    assert post.take(*map(scripted, requests)).replies == 1
    assert post.take(*map(scripted, requests)) == (0, 0, None, 1, 0)
    assert [each["body"]["prompt"] for each in post.export()] == ["verdicts"]


def test_of_two_replies_to_one_request_the_first_counts(post):
    (request,) = post.export()
    found = post.take(plain_line(request, STATEMENTS), plain_line(request, '{"statements": []}'))
    assert (found.replies, found.unknown, found.waiting) == (1, 1, 0)
    assert [each["body"]["prompt"] for each in post.export()] == ["verdicts"]


def test_replies_to_another_run_are_not_taken(tmp_path, post):
    other = Post(tmp_path / "other", [{**SAMPLE, "answer": "In Bern."}], metrics="faithfulness")
    other.out.mkdir(parents=True)
    (request,) = other.export()
    post.export()
    assert post.take(scripted(request)) == (0, 0, None, 1, 1)


def test_a_bad_line_is_named_and_the_replies_before_it_are_safe(tmp_path):
    post = Post(tmp_path, metrics="faithfulness")
    requests = post.export()
    lines = [json.dumps(scripted(each)) for each in requests]
    post.replies.write_text("\n".join([lines[0], lines[1][:20], lines[2]]))
    with pytest.raises(ConfigError, match=r"replies\.jsonl, line 2 is no JSON"):
        import_replies(post.out, post.replies)
    assert requests[0]["custom_id"] not in {each["custom_id"] for each in post.export()}


def test_a_line_without_an_id_is_no_reply(post):
    post.export()
    for line in ("[]", "3", '{"reply": "x"}', '{"custom_id": 3, "reply": "x"}'):
        post.replies.write_text(line)
        with pytest.raises(ConfigError, match="line 1 has no custom_id: it is no reply to a wave"):
            import_replies(post.out, post.replies)


def test_blank_lines_and_a_byte_order_mark_do_no_harm(post):
    (request,) = post.export()
    post.replies.write_bytes(b"\xef\xbb\xbf" + json.dumps(scripted(request)).encode() + b"\n\n  \n")
    assert import_replies(post.out, post.replies).replies == 1


def test_replies_that_are_not_there_are_named(post):
    post.export()
    with pytest.raises(ConfigError, match=r"replies\.jsonl cannot be read: No such file"):
        import_replies(post.out, post.replies)


def test_without_an_open_wave_there_is_nothing_to_import(tmp_path, post):
    with pytest.raises(ConfigError, match="has no open wave: ragmetrics batch export writes one"):
        import_replies(tmp_path, write(post.replies, []))
    while requests := post.export():
        post.take(*map(scripted, requests))
    with pytest.raises(ConfigError, match="has no open wave"):
        post.take()


def test_a_damaged_list_of_open_requests_is_written_again_by_the_next_export(post):
    (request,) = post.export()
    (post.out / "waiting.jsonl").write_text('{"addr": 1}\n')
    with pytest.raises(ConfigError, match="is damaged: ragmetrics batch export writes it again"):
        post.take(scripted(request))
    post.export()
    assert post.take(scripted(request)).replies == 1


def test_replies_are_not_taken_while_somebody_writes_to_the_run(post):
    (request,) = post.export()
    with FolderLock(post.out), pytest.raises(ConfigError, match="writes to the run"):
        post.take(scripted(request))
    assert post.take(scripted(request)).replies == 1


def test_a_journal_that_cannot_be_read_keeps_the_requests_open(post):
    (request,) = post.export()
    journal = post.out / "journal.sqlite"
    whole = journal.read_bytes()
    journal.write_bytes(b"no database at all, but some text of a fair length" * 20)
    with pytest.raises(RecordError):
        post.take(scripted(request))
    journal.write_bytes(whole)
    assert post.take(scripted(request)).replies == 1

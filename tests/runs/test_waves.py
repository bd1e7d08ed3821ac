"""A judge that answers by file: whatever way the replies come back, the run is the one it would be online."""

import json
import random
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.protocol import Completion, Generate, Usage
from ragmetrics_core.runs import export_wave, import_replies
from ragmetrics_core.testing import HashEmbedder, RandomJudge, ScriptedJudge
from tests.catalogue import EVERY, MEASURABLE
from tests.lines import plain
from tests.runs.by_file import (
    BOTH,
    OTHERS,
    ROWS,
    SAMPLE,
    STATEMENTS,
    ByFile,
    Give,
    Post,
    batch_line,
    failed_line,
    plain_line,
    scripted,
    write,
)


class AnyJudge(ScriptedJudge):
    """Answers any prompt at random, a draw always the same; verdicts are missing, some replies garbage."""

    def __init__(self, seed: int = 0, identity: str = "any") -> None:
        super().__init__({}, identity=identity)
        self.seed = seed
        self.given: dict[tuple[str, int], Completion] = {}

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        self.asked.append(request)
        chance = random.Random(f"{self.seed} {request.digest} {request.draw}")
        filling = RandomJudge(self.seed, complete=chance.random() < 0.5)
        (filled,) = await filling.agenerate(request._replace(draws=1))
        text = filled.text if chance.random() > 0.05 else "I cannot."
        usage = Usage(chance.randint(1, 99), 7)
        reply = Completion(text=text, model="served", usage=usage, finish_reason="stop")
        self.given[request.digest, request.draw] = reply
        return [reply]


def records(run: Run) -> dict[tuple[str, str], Any]:
    """What is on record of each score: value, verdicts, replies and all else."""
    return {(each.sample_id, each.signature): plain(each.stored()) for each in run.records()}


def online(judges: Sequence[AnyJudge], rows: Sequence[Any] = ROWS, **arguments: Any) -> tuple[Run, Give]:
    """The run that asks the judges by calls, and their replies by what stands in a request's body."""
    run = evaluate(rows, panel=judges, **{**OTHERS, **arguments})
    given = {
        (judge.identity, digest, draw): reply
        for judge in judges
        for (digest, draw), reply in judge.given.items()
    }
    return run, lambda body: given[body["by"], body["digest"], body["draw"]]


@pytest.mark.parametrize("metric", EVERY)
def test_every_metric_has_the_records_that_the_run_online_has(tmp_path, metric):
    run, give = online([AnyJudge(1)], metrics=metric)
    post = Post(tmp_path, metrics=metric)

    post.until_complete(give)

    assert records(post.run) == records(run)
    assert post.run.finished
    assert list(post.run.audit()) == []


@settings(max_examples=settings.default.max_examples // 12)  # 2 with `make test`, 8 with `make slow`
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


def test_a_function_without_an_identity_cannot_be_asked_by_file(tmp_path):
    lock = threading.Lock()
    # the replies to it would never be found again: each wave would be the first one
    with pytest.raises(ConfigError, match=r"<lambda> could not be found again.*as_judge\(function"):
        export_wave(
            [SAMPLE],
            tmp_path / "wave.jsonl",
            out=tmp_path / "run",
            metrics="faithfulness",
            judge=lambda prompt: "yes" if lock.locked() else "no",
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
    rows = [SAMPLE, {**SAMPLE, "id": "q2", "answer": "In Ulm, then."}]
    post = Post(tmp_path, rows, metrics="factual_correctness")
    requests = post.export()
    of_reference = next(each for each in requests if each["body"]["prompt"] == "reference_statements")
    one, two = (each for each in requests if each is not of_reference)
    # the second sample has all its replies a wave before the first one
    post.take(plain_line(of_reference, "I cannot."), scripted(two))
    (again,) = (each for each in post.export() if each["custom_id"] != one["custom_id"])
    assert again["body"]["prompt"] == "reference_statements"
    # asked once more for both samples, which share the conversation
    post.take(plain_line(again, "I cannot."), scripted(one))
    assert post.export() == []
    assert post.run.mean("factual_correctness").statuses == {"parse_error": 2}


def test_a_persons_plain_replies_give_the_same_values_verdicts_and_replies(tmp_path):
    run, give = online([AnyJudge(3)])
    post = Post(tmp_path)
    while requests := post.export():
        post.take(*(plain_line(each, give(each["body"]).text) for each in requests))

    for one in run.records():
        other = post.run.score(one.sample_id, one.signature)
        assert (other.status, other.value, other.verdicts) == (one.status, one.value, one.verdicts)
        assert [step.reply for step in other.generate_steps] == [step.reply for step in one.generate_steps]


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
    (again,) = post.export()
    post.take(plain_line(again, "I cannot."))
    assert post.export() == []
    assert post.status == "parse_error"
    assert [each["custom_id"] for each in post.export()] == [first["custom_id"]]


def test_when_the_run_is_over_no_other_run_is_given_its_bad_replies(tmp_path, post):
    post.arguments["cache"] = cache = tmp_path / "cache.sqlite"
    for _ in range(2):  # what cannot be read is asked for once more
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

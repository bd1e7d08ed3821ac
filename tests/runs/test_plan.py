"""A plan says beforehand what a run will ask; with the judge whose rules it uses, to the last token."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import METRICS, Faithfulness, get
from ragmetrics_core.models import OpenAIJudge, Price
from ragmetrics_core.models.wrapper import Wrapper
from ragmetrics_core.parsers import (
    DecliningVerdict,
    EntityList,
    Expected,
    QuestionList,
    Rating,
    RelevantSentences,
    StatementList,
    VerdictList,
)
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs import plan
from ragmetrics_core.testing import HashEmbedder, OverlapScorer, ScriptedJudge
from ragmetrics_embedded import LexicalJudge
from tests.catalogue import EVERY, MEASURABLE, NOT_EMBEDDED


def is_answered(metric: Any) -> bool:
    """Whether the embedded judge answers all prompts of a metric."""
    chosen = get(metric if isinstance(metric, str) else metric.values[0])
    return not chosen.prompt_names & NOT_EMBEDDED


ANSWERED = [metric for metric in EVERY if is_answered(metric)]
TOGETHER = [*filter(is_answered, MEASURABLE)]
STRICT = [name for name in (f"{name}/strict.1" for name in METRICS) if is_answered(name)]

# every field that a metric can need, a language that has translations, an answer that says nothing, and what
# lacks fields; the second sample asks in part what the first one asks
EINSTEIN = {
    "question": "Where was Einstein born?",
    "answer": "Einstein was born in Ulm in 1879. He played the violin.",
    "contexts": ["Albert Einstein was born in Ulm. It lies on the Danube.", "He studied physics in Zurich."],
    "reference": "Einstein was born in Ulm, in Germany, in 1879.",
    "reference_contexts": ["Albert Einstein was born in Ulm."],
    "context_ids": ["a", "b"],
    "reference_context_ids": ["a"],
}
ROWS: list[dict[str, Any]] = [
    {"id": "q1", **EINSTEIN},
    {"id": "q2", **EINSTEIN, "contexts": ["Ulm is a city."], "context_ids": ["c"]},
    {"id": "q3", **EINSTEIN, "answer": "I do not know.", "reference": "In Ulm."},
    {
        "id": "q4",
        "question": "Wo liegt Ulm?",
        "answer": "An der Donau.",
        "contexts": ["Ulm."],
        "language": "de",
    },
    {"id": "q5", "question": "Who?", "answer": "Nobody."},
]
# with several references a run asks no more after a full score
SEVERAL = [{**row, "references": [EINSTEIN["reference"], "In Ulm.", "Ulm"]} for row in ROWS[:3]]


@dataclass(frozen=True)
class Heard(Wrapper):
    """A judge that notes how large questions and replies are, in tokens of four characters."""

    calls: list[tuple[int, int]] = field(default_factory=list)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        replies = await self.inner.agenerate(request)
        asked = sum(len(message.content) for message in request.messages)
        self.calls.append((-(-asked // 4), sum(-(-len(reply.text) // 4) for reply in replies)))
        return replies


class OneByOne(ScriptedJudge):
    """The embedded judge's replies from a judge that gives one for each call."""

    def __init__(self, identity: str = "one-by-one") -> None:
        super().__init__({}, identity=identity)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        self.asked.append(request)
        return (await LexicalJudge().agenerate(request))[:1]


def asked_by(rows: Sequence[Any], judges: Sequence[Heard | OneByOne], **arguments: Any) -> int:
    """How many calls a run really makes of all its judges together."""
    evaluate(rows, panel=judges, **arguments)
    return sum(len(judge.calls if isinstance(judge, Heard) else judge.asked) for judge in judges)


# -- calls and tokens


@pytest.mark.parametrize("metric", ANSWERED)
def test_every_metric_asks_what_its_plan_says(metric):
    heard = Heard(LexicalJudge())
    arguments = {"metrics": metric, "judge": heard, "embedder": HashEmbedder(), "scorer": OverlapScorer()}
    found = plan(ROWS, **arguments).total
    assert heard.calls == []

    run = evaluate(ROWS, **arguments)

    prompt, completion = (sum(each) for each in zip(*heard.calls, strict=True)) if heard.calls else (0, 0)
    assert (found.calls, found.prompt_tokens, found.completion_tokens, found.embedded) == (
        len(heard.calls),
        prompt,
        completion,
        run.tally["embedded"],
    )


@pytest.mark.parametrize("metric", ANSWERED)
def test_with_several_references_a_metric_asks_at_most_what_its_plan_says(metric):
    judge = OneByOne()
    arguments = {"metrics": metric, "judge": judge, "embedder": HashEmbedder(), "scorer": OverlapScorer()}
    planned = plan(SEVERAL, **arguments).total.calls
    evaluate(SEVERAL, **arguments)
    assert len(judge.asked) <= planned


def test_a_run_that_stops_at_the_first_reference_asks_less_than_its_plan_which_says_so():
    # one grade in each direction for each of two references; the first gets the full grade both times
    row = {"question": "Where?", "answer": "In Ulm.", "reference": "Ulm.", "references": ["Rome."]}
    arguments = {
        "metrics": "answer_accuracy",
        "judge": (judge := ScriptedJudge({"accuracy_grade": {"rating": 4}})),
    }
    planned = plan([row], **arguments).total
    evaluate([row], **arguments)
    assert (len(judge.asked), planned.calls, planned.in_turn) == (2, 4, 1)


@pytest.mark.parametrize("metrics", ["faithfulness", "exact_match", "answer_accuracy(references=first)"])
def test_a_plan_says_at_most_only_where_models_are_asked_about_references_in_turn(metrics):
    arguments = {"judge": LexicalJudge(), "metrics": metrics}
    assert plan(SEVERAL, **arguments).total.in_turn == 0


@settings(max_examples=15)
@given(
    rows=st.lists(st.sampled_from(ROWS), min_size=1, unique_by=lambda row: row["id"]),
    metrics=st.lists(st.sampled_from(TOGETHER), min_size=1, max_size=4, unique=True),
    judges=st.lists(st.booleans(), min_size=1, max_size=3),
    repeats=st.integers(1, 3),
    full_repeats=st.integers(1, 2),
)
def test_metrics_together_with_votes_and_a_panel_ask_what_their_plan_says(
    rows, metrics, judges, repeats, full_repeats
):
    # a judge that gives several replies at once is one call for all votes, the other kind is one for each
    panel = [
        Heard(LexicalJudge(identity=f"judge {number}")) if at_once else OneByOne(f"judge {number}")
        for number, at_once in enumerate(judges)
    ]
    arguments = {
        "metrics": metrics,
        "embedder": HashEmbedder(),
        "scorer": OverlapScorer(),
        "repeats": repeats,
        "full_repeats": full_repeats,
    }
    assert plan(rows, panel=panel, **arguments).total.calls == asked_by(rows, panel, **arguments)


@pytest.mark.parametrize("metric", [name for name in STRICT if get(name).needs == {"judge"}])
def test_replies_that_cost_nothing_are_the_ones_that_metrics_or_samples_share(metric):
    found = plan(ROWS, metrics=[metric, "faithfulness/ragas-0.4"], judge="embedded").total
    tally = evaluate(ROWS, metrics=[metric, "faithfulness/ragas-0.4"], judge="embedded").tally
    # what another sample has asked the run reads from its own journal, a plan calls both of them shared
    assert (found.calls, found.shared) == (tally["calls"], tally["shared"] + tally["cached"])


def test_a_shared_call_belongs_to_the_metric_that_is_named_first():
    first, second = "faithfulness/strict.1", "faithfulness/ragas-0.4"
    found = plan(ROWS[:1], metrics=[first, second], judge="embedded")
    # statements and verdicts, each asked once for both
    assert [(each.calls, each.shared) for each in found.metrics.values()] == [(2, 0), (0, 2)]
    assert list(found.metrics) == [first, second]


def test_only_calls_that_no_reply_decides_about_are_exact():
    found = plan([ROWS[0]], judge="embedded")
    faithful, factual = found.metrics.values()
    # the statements of the answer follow from the sample, their verdicts from the statements
    assert (faithful.exact, faithful.estimated) == (1, 1)
    # the answer's statements are shared; those of the reference are exact; both verdict calls follow
    assert (factual.exact, factual.estimated, factual.shared) == (1, 2, 1)


def test_votes_of_a_judge_that_gives_several_replies_at_once_pay_the_prompt_once():
    once = plan(ROWS[:1], metrics="context_recall", judge="embedded").total
    thrice = plan(ROWS[:1], metrics="context_recall", judge="embedded", repeats=3).total
    assert (thrice.calls, thrice.prompt_tokens) == (once.calls, once.prompt_tokens)
    assert thrice.completion_tokens > once.completion_tokens


# -- what is not asked, and what is there already


def test_a_plan_makes_no_call_and_no_file(tmp_path):
    judge = ScriptedJudge({})
    plan(ROWS, judge=judge, out=tmp_path / "run", cache=tmp_path / "cache.sqlite")
    assert judge.asked == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("calls", [0, 1, 5, 8])
def test_the_plan_of_a_run_that_was_stopped_is_what_it_asks_when_it_goes_on(tmp_path, calls):
    evaluate(ROWS, judge=OneByOne(), out=tmp_path, max_calls=calls)
    found = plan(ROWS, judge=OneByOne(), out=tmp_path)
    rest = OneByOne()
    evaluate(ROWS, judge=rest, out=tmp_path)
    assert found.total.calls == len(rest.asked)
    # each of the calls that were made has left its sample's score or, in the journal, its reply
    assert found.total.calls + calls == plan(ROWS, judge=OneByOne()).total.calls


def test_what_a_shared_journal_holds_is_cached(tmp_path):
    cache = tmp_path / "cache.sqlite"
    evaluate([ROWS[0]], metrics="faithfulness", judge="embedded", cache=cache)
    found = plan([ROWS[0]], judge="embedded", cache=cache)
    faithful, factual = found.metrics.values()
    assert (faithful.calls, faithful.cached, faithful.prompt_tokens) == (0, 2, 0)
    # the answer's statements are shared with faithfulness; what is left are three calls
    assert (factual.calls, factual.cached, factual.shared) == (3, 0, 1)


def test_replies_in_the_journal_make_what_follows_from_them_exact(tmp_path):
    cache = tmp_path / "cache.sqlite"
    evaluate(ROWS[:1], metrics="faithfulness", judge=OneByOne(), cache=cache, max_calls=1)
    found = plan(ROWS[:1], metrics="faithfulness", judge=OneByOne(), cache=cache).total
    # the statements are known, so the call for the verdicts is known to the letter
    assert (found.cached, found.exact, found.estimated) == (1, 1, 0)


def test_rows_that_are_no_samples_are_counted_and_not_planned():
    found = plan([ROWS[0], {"id": "q9"}, "no row"], judge="embedded")
    assert (found.samples, found.rejected) == (1, 2)
    assert found.total == plan(ROWS[:1], judge="embedded").total


def test_a_sample_whose_content_changed_is_planned_as_a_new_one(tmp_path):
    evaluate(ROWS[:1], metrics="faithfulness", judge="embedded", out=tmp_path)
    changed = {**ROWS[0], "answer": "He was not."}
    again = plan([changed], metrics="faithfulness", judge="embedded", out=tmp_path)
    assert (again.samples, again.rejected) == (1, 0)
    assert again.total == plan([changed], metrics="faithfulness", judge="embedded").total


def test_redaction_is_planned_as_it_will_be_sent():
    def redact(text: str) -> str:
        return text.replace("Einstein", "E.")

    whole, redacted = (
        plan(ROWS, judge="embedded", redact=each).total.prompt_tokens for each in (None, redact)
    )
    assert redacted < whole


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"metrics": "faithfullness"}, "there is no metric 'faithfullness'"),
        ({"judge": None}, "faithfulness needs a judge"),
        ({"metrics": "answer_relevance"}, "answer_relevance needs an embedder"),
        ({"repeats": 0}, "repeats must be at least 1, not 0"),
        ({"prices": {"other": {"prompt": 1.0, "completion": 1.0}}}, "there is no price for"),
    ],
)
def test_a_mistake_is_named_as_it_is_for_a_run(arguments, told):
    with pytest.raises(ConfigError, match=told):
        plan(ROWS, **{"metrics": "faithfulness", "judge": "embedded", **arguments})


def test_another_run_in_the_folder_is_refused_with_what_differs(tmp_path):
    evaluate(ROWS, metrics="faithfulness", judge="embedded", out=tmp_path)
    with pytest.raises(ConfigError, match=r"holds another run: it does not measure context_recall/strict\.1"):
        plan(ROWS, metrics="context_recall", judge="embedded", out=tmp_path)


def test_a_metric_with_prompts_of_its_own_is_planned_too():
    own = Faithfulness(decompose=replace(Faithfulness().decompose, name="own_statements"))
    total = plan(ROWS[:1], metrics=own, judge=OneByOne()).total
    # the split follows from the sample, the verdicts on what it gives are an estimate
    assert (total.exact, total.estimated) == (1, 1)
    assert total.completion_tokens > 20


@pytest.mark.parametrize(
    "kind",
    [VerdictList, DecliningVerdict, StatementList, QuestionList, Rating, EntityList, RelevantSentences],
)
def test_what_stands_in_for_a_reply_is_read_as_one(kind):
    expected = Expected(numbers=(1, 2, 3), size=3)
    reading = kind.read(kind.filled(expected), expected)
    assert (reading.rule, reading.objections, reading.dropped) == ("json", (), ())
    verdicts = getattr(reading.value, "verdicts", None)
    assert verdicts is None or [verdict.number for verdict in verdicts] == [1, 2, 3]


# -- cost


def test_the_cost_is_tokens_times_price():
    pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")
    judge = OpenAIJudge("small", api_key="none")
    found = plan(ROWS[:1], judge=judge, prices={"small": Price(2.0, 8.0)})
    tokens = found.total
    # 2 for a million prompt tokens, 8 for a million completion tokens
    assert found.cost(tokens) == pytest.approx(
        tokens.prompt_tokens * 0.000002 + tokens.completion_tokens * 0.000008
    )
    assert found.cost(tokens) == pytest.approx(sum(map(found.cost, found.metrics.values())))

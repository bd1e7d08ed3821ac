"""Probing judges whose fitness is known: each probe finds what it is there to find."""

import asyncio
import json

import pytest

from ragmetrics_core import Run, Sample, evaluate
from ragmetrics_core.errors import ConfigError, ModelError, ModelRefused
from ragmetrics_core.metrics import ContextPrecision, Faithfulness
from ragmetrics_core.probe import CARD, PROBES, FitnessCard, aprobe, count_samples, probe, read_corpus
from ragmetrics_core.testing import RandomJudge, ScriptedJudge
from tests.probe.judges import judge_of, obedient, right

CORPUS = read_corpus()
# 18 passages of 4 statements and 3 chunks
STATEMENTS, CHUNKS = 72, 54


@pytest.fixture(scope="module")
def perfect() -> FitnessCard:
    return probe(judge_of(right))


# -- known answers


def test_a_perfect_judge_is_always_right_never_steered_and_minds_no_order_padding_or_repetition(perfect):
    known, position, (strict, paper) = perfect.known_answers, perfect.position, perfect.injection
    assert (known.accuracy.value, known.accuracy.n) == (1.0, STATEMENTS + CHUNKS)
    assert (known.precision.value, known.recall.value, known.wrong) == (1.0, 1.0, ())
    assert (strict.variant, strict.steered.value, strict.steered.n) == ("strict.1", 0.0, len(CORPUS.attacks))
    assert (paper.variant, paper.steered.value) == ("paper.1", 0.0)
    assert (position.statements.value, position.contexts.value, position.chunks.value) == (0.0, 0.0, 0.0)
    assert position.towards_first.undefined == "no verdict on what was moved changed"
    assert (perfect.verbosity.shift, perfect.verbosity.accuracy.value) == (0.0, 1.0)
    assert (perfect.consistency.draws, perfect.consistency.agreed.value) == (3, 1.0)


def test_a_judge_that_always_says_yes_is_right_on_every_second_statement():
    known = probe(judge_of(lambda *_: True), only=["known-answers"]).known_answers
    # half of the 72 statements are supported: precision 36/72, recall 36/36
    assert (known.statements.count, known.statements.n) == (36, 72)
    assert (known.precision.value, known.recall.value) == (0.5, 1.0)
    assert "lighthouse statement 2" in known.wrong


def test_the_accuracy_of_a_random_judge_cannot_be_told_from_one_half():
    statements = probe(RandomJudge(1, complete=True), only=["known-answers"]).known_answers.statements
    assert statements.n == STATEMENTS
    assert statements.low < 0.5 < statements.high


def test_a_judge_whose_replies_cannot_be_read_has_no_accuracy_rather_than_none_right():
    card = probe(ScriptedJudge(lambda request: "Lorem ipsum dolor sit amet."))
    assert card.replies.read.value == 0.0
    assert card.replies.statuses == {"parse_error": len(CORPUS.passages) * (2 + 1 + 2 + 1 + 2) + 12}
    known = card.known_answers
    assert (known.answered.value, known.accuracy.value) == (0.0, None)
    assert known.accuracy.undefined == "no verdict could be read"
    assert card.steered().value is None
    assert (card.verbosity.shift, card.position.statements.value) == (None, None)
    assert card.consistency.agreed.value is None


def test_verdicts_that_are_left_out_are_counted_and_are_not_wrong():
    # "yes" on the first statement only, right or not; the others are asked about once more
    card = probe(
        ScriptedJudge(lambda request: {"verdicts": [{"number": 1, "verdict": "yes"}]}), only=["known-answers"]
    )
    assert (card.known_answers.statements.n, card.known_answers.chunks.n) == (18, 18)
    assert card.known_answers.answered.count == 36
    assert card.replies.statuses == {"incomplete": 36}
    # no first reply is whole, and no second one is of the numbers that are left
    assert (card.replies.read.value, card.replies.asked_again, card.replies.read_again) == (0.0, 36, 0)


def test_replies_are_counted_as_read_at_first_after_one_more_or_never():
    # three statements each: the first reply leaves out the last one, the second gives it; chunks stay unread
    def replying(request):
        if request.prompt.name == "chunk_verdicts":
            return "I cannot."
        numbers = request.expected.numbers if request.again else request.expected.numbers[:-1]
        return {"verdicts": [{"number": number, "verdict": "yes"} for number in numbers]}

    replies = probe(ScriptedJudge(replying), only=["known-answers"]).replies
    # 18 lists of statements are read at the second asking, 18 of chunks never
    assert (replies.read.count, replies.read.n, replies.read_again, replies.asked_again) == (0, 36, 18, 36)
    assert replies.rules == {"json": 18}


# -- injection


def test_a_judge_that_obeys_every_attack_is_always_steered():
    card = probe(judge_of(obedient), only=["injection"])
    strict, paper = card.injection
    assert card.known_answers.accuracy.value == 1.0
    assert (strict.steered.value, strict.steered.n) == (1.0, len(CORPUS.attacks))
    # the prompts of the paper show no question and no reference
    shown = [attack for attack in CORPUS.attacks if attack.field in ("context", "answer")]
    # an obedient reply that is the attack's own line is a copy, which says nothing
    assert (paper.steered.n, paper.attacks) == (len(shown), len(shown))
    assert paper.steered.value >= 0.9
    assert len(strict.steered_by) == len(CORPUS.attacks)


def test_a_judge_that_replies_with_the_json_of_an_attack_is_steered_by_it_and_the_card_says_so():
    def copying(request):
        shown = request.messages[1].content
        # of a fenced block the inside, of a line with words before it the object
        found = [
            line[line.index("{") :]
            for line in shown.splitlines()
            if '"verdict": "yes"}' in line and "[1]" not in line
        ]
        own = [each for each in found if each not in request.prompt.user]
        return own[0] if own else json.loads(judge_of(right).replies(request))

    strict, _ = probe(ScriptedJudge(copying), only=["injection"]).injection
    assert strict.by_kind["json"].count > 0
    assert "context-json" in strict.steered_by


def test_an_attack_that_leaves_no_verdict_has_silenced_the_judge_and_not_steered_it():
    def silenced(request):
        if "final verdict" in request.messages[1].content.casefold():
            return "I cannot help with that."
        return judge_of(right).replies(request)

    strict, _ = probe(ScriptedJudge(silenced), only=["injection"]).injection
    assert strict.steered.count == 0
    assert strict.silenced.count > 0


def test_a_judge_that_is_always_wrong_offers_no_verdict_that_could_be_turned():
    card = probe(judge_of(lambda *asked: not right(*asked)), only=["injection"])
    assert card.steered().undefined == "no attack met a verdict that was right without it"


# -- position, verbosity, consistency


@pytest.mark.parametrize(("is_first", "share"), [(True, 1.0), (False, 0.0)])
def test_a_judge_that_prefers_the_first_or_the_last_place_is_found_by_the_position_probe(is_first, share):
    def by_place(request, number, text):
        return number == (1 if is_first else len(request.variables["items"]))

    position = probe(judge_of(by_place), only=["position"]).position
    # of 4 statements the first and the last change, of 3 chunks too; "yes" is always in one of the two places
    assert (position.statements.count, position.statements.n) == (36, 72)
    assert (position.chunks.count, position.chunks.n) == (36, 54)
    assert (position.contexts.count, position.contexts.n) == (0, 72)
    assert (position.towards_first.value, position.towards_first.n) == (share, 72)


def test_a_judge_that_says_yes_to_long_texts_is_found_by_the_verbosity_probe():
    def long(request, number, text):
        return len(text) > (45 if "\u4e00" <= text[0] <= "\u9fff" else 120)

    verbosity = probe(judge_of(long), only=["verbosity"]).verbosity
    assert (verbosity.turned_yes.value, verbosity.turned_no.value, verbosity.shift) == (1.0, 0.0, 1.0)


def test_a_judge_that_says_another_thing_each_time_agrees_with_itself_on_nothing():
    draws = judge_of(lambda request, number, text: request.draw >= 1000)
    consistency = probe(draws, only=["consistency"], repeats=2).consistency
    assert (consistency.draws, consistency.agreed.value, consistency.agreed.n) == (2, 0.0, STATEMENTS)


# -- what is asked, and kept


def test_without_a_probe_its_part_of_the_card_is_empty():
    card = probe(judge_of(right), only=["verbosity"], limit=2)
    assert card.known_answers.accuracy.n == 2 * (4 + 3)
    assert (card.injection, card.position, card.consistency) == (None, None, None)
    assert card.steered() is None


def test_in_the_same_folder_only_what_is_new_is_asked_and_no_other_judge(tmp_path):
    judge, larger, how = judge_of(right), judge_of(right), {"only": ["known-answers"], "out": tmp_path}
    first = probe(judge, limit=3, **how)
    asked = len(judge.asked)
    assert probe(judge, limit=3, **how) == first == FitnessCard.read(tmp_path / CARD)
    probe(larger, **how)
    # two calls for each passage; three passages were asked about before
    assert (len(judge.asked), len(larger.asked)) == (asked, 2 * len(CORPUS.passages) - asked)
    with pytest.raises(ConfigError, match="its judge is scripted, not another"):
        probe(judge_of(right, identity="another"), limit=1, **how)


def test_every_figure_can_be_opened_and_derived_again(tmp_path):
    probe(judge_of(right), limit=4, out=tmp_path)
    runs = [Run.load(path.parent) for path in sorted(tmp_path.glob("*/manifest.json"))]
    assert len(runs) == 9
    assert [list(run.audit()) for run in runs] == [[]] * 9


def test_the_card_goes_beside_a_run_of_the_same_judge(tmp_path):
    run, judge = tmp_path / "run", judge_of(right)
    sample = {"question": "Q?", "answer": "A tower.", "contexts": ["A tower."]}
    evaluate([sample], metrics=["faithfulness"], judge=ScriptedJudge({}), out=run)
    card = probe(judge, only=["known-answers"], limit=1, beside=run)
    assert FitnessCard.read(run / CARD) == card
    assert len(Run.load(run)) == 1
    with pytest.raises(
        ConfigError, match=r"the judge of the run in .* is scripted, not another: it cannot hold"
    ):
        probe(judge_of(right, identity="another"), beside=run)


def test_the_progress_ends_at_the_number_of_samples_that_was_promised():
    told = []
    probe(judge_of(right), limit=3, progress=told.append)
    assert told[-1].samples == count_samples(limit=3)
    assert [each.samples for each in told] == sorted(each.samples for each in told)
    assert told[-1].tally.calls > 0


def test_it_can_be_awaited_and_the_date_is_the_callers_and_else_absent():
    how = {"only": ["known-answers"], "limit": 1}
    card = asyncio.run(aprobe(judge_of(right), date="2026-01-31", **how))
    assert (card.known_answers.accuracy.value, card.date) == (1, "2026-01-31")
    assert probe(judge_of(right), **how).date is None


# -- mistakes


def test_a_judge_that_cannot_be_reached_is_an_error_and_no_card():
    with pytest.raises(ModelError, match=r"answered none of the first 36 questions: .*wrong key"):
        probe(ScriptedJudge(lambda request: ModelRefused("wrong key")))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"only": ["poison"]}, f"there is no probe 'poison'; there is {', '.join(PROBES)}"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"repeats": 1}, "repeats must be at least 2"),
        ({"out": "a", "beside": "b"}, "pass out or beside"),
    ],
)
def test_a_mistake_is_said_before_any_call(given, message):
    judge = judge_of(right)
    with pytest.raises(ConfigError, match=message):
        probe(judge, **given)
    assert judge.asked == []


def test_a_folder_with_the_probe_of_another_corpus_is_measured_again(tmp_path):
    asked = [Faithfulness(granularity="sentence"), ContextPrecision()]
    other = Sample(
        id="lighthouse", question="Q?", answer="A tower.", contexts=("A tower.",), reference="Yes."
    )
    evaluate([other], metrics=asked, judge=judge_of(right), out=tmp_path / "known-answers")
    assert probe(judge_of(right), out=tmp_path) == probe(judge_of(right))

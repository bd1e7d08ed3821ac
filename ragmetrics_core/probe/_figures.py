"""The figures of a card, from verdicts and records; no model is asked."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from ragmetrics_core.adapting import is_cut
from ragmetrics_core.probe._card import (
    Consistency,
    Injection,
    KnownAnswers,
    Position,
    Replies,
    ShareOf,
    Verbosity,
)
from ragmetrics_core.probe._corpus import Case, Passage, Verdicts, truth
from ragmetrics_core.probe._samples import Target
from ragmetrics_core.records import Record

__all__ = ["consistency_of", "injection_of", "known_answers_of", "position_of", "replies_of", "verbosity_of"]

T = TypeVar("T")

NO_VERDICT = "no verdict could be read"
NO_PAIR = "no verdict could be read in both"
NO_TARGET = "no attack met a verdict that was right without it"


def replies_of(records: Sequence[Record]) -> Replies:
    """How the replies in the records could be read."""
    steps = [step for record in records for step in record.generate_steps]
    first = [step for step in steps if not step.again]
    whole = [step for step in steps if step.rule != "unread" and not step.objections]
    at_first = [step for step in whole if not step.again]
    prompts = sorted({step.prompt for step in steps})
    asked, got = (Counter(step.prompt for step in group) for group in (first, at_first))
    return Replies(
        read=ShareOf.of(len(at_first), len(first), otherwise="the judge gave no reply"),
        by_prompt={name: ShareOf.of(got[name], asked[name], otherwise=NO_VERDICT) for name in prompts},
        rules=dict(sorted(Counter(step.rule for step in whole).items())),
        asked_again=len(steps) - len(first),
        read_again=len(whole) - len(at_first),
        cut=sum(is_cut(step.finish_reason) for step in steps),
        statuses=dict(sorted(Counter(record.status for record in records).items())),
    )


def known_answers_of(passages: Sequence[Passage], said: Verdicts) -> KnownAnswers:
    """How often the judge is right."""
    right = truth(passages)
    given = {case: said[case] for case in right if said[case] is not None}
    kinds = {
        Case(passage.id, False, place): statement.kind
        for passage in passages
        for place, statement in enumerate(passage.statements)
    }
    languages = {passage.id: passage.language for passage in passages}

    def accuracy(cases: Iterable[Case]) -> ShareOf:
        return _share((given[case] == right[case] for case in cases if case in given), NO_VERDICT)

    statements = [case for case in given if not case.is_chunk]
    hits = sum(bool(given[case] and right[case]) for case in statements)
    return KnownAnswers(
        answered=ShareOf.of(len(given), len(right), otherwise="nothing was asked"),
        accuracy=accuracy(right),
        statements=accuracy(statements),
        chunks=accuracy(case for case in right if case.is_chunk),
        precision=ShareOf.of(
            hits,
            sum(bool(given[case]) for case in statements),
            otherwise="no statement was called supported" if statements else NO_VERDICT,
        ),
        recall=ShareOf.of(hits, sum(right[case] for case in statements), otherwise=NO_VERDICT),
        by_kind=_grouped(kinds, accuracy, lambda case: kinds[case]),
        by_language=_grouped(right, accuracy, lambda case: languages[case.passage]),
        wrong=tuple(str(case) for case in given if given[case] != right[case]),
    )


def injection_of(variant: str, attacks: int, said: Mapping[Target, bool | None]) -> Injection:
    """What attacks did.

    Args:
        variant: the variant of the prompts.
        attacks: how many attacks were to be tried.
        said: the verdict on each attack's target, which was right without the attack.
    """
    turned = {target for target, verdict in said.items() if verdict is target.attack.wants_yes}

    def steered(targets: Iterable[Target]) -> ShareOf:
        return _share((target in turned for target in targets), NO_TARGET)

    return Injection(
        variant=variant,
        attacks=attacks,
        steered=steered(said),
        silenced=_share((verdict is None for verdict in said.values()), NO_TARGET),
        by_field=_grouped(said, steered, lambda target: target.attack.field),
        by_kind=_grouped(said, steered, lambda target: target.attack.kind),
        steered_by=tuple(target.attack.id for target in said if target in turned),
    )


def position_of(
    passages: Sequence[Passage], plain: Verdicts, *, statements: Verdicts, contexts: Verdicts
) -> Position:
    """How many verdicts change with the order.

    Args:
        passages: the passages.
        plain: the verdicts in the order of the corpus.
        statements: those with the statements reversed.
        contexts: those with the chunks reversed, on statements and chunks.
    """
    own = {case: verdict for case, verdict in contexts.items() if not case.is_chunk}
    chunks = {case: verdict for case, verdict in contexts.items() if case.is_chunk}
    lengths = {
        (passage.id, is_chunk): len(passage.chunks if is_chunk else passage.statements)
        for passage in passages
        for is_chunk in (False, True)
    }
    moved: list[bool] = []
    for case, verdict in (*statements.items(), *chunks.items()):
        # how far a case stands before the middle, where it is not moved
        before = lengths[case.passage, case.is_chunk] - 1 - 2 * case.place
        if before and None not in (plain[case], verdict) and plain[case] != verdict:
            # "yes" in the order of the corpus, if that is where the case stands earlier
            moved.append(plain[case] is (before > 0))
    return Position(
        statements=_changed(plain, statements),
        contexts=_changed(plain, own),
        chunks=_changed(plain, chunks),
        towards_first=_share(moved, "no verdict on what was moved changed"),
    )


def verbosity_of(passages: Sequence[Passage], plain: Verdicts, padded: Verdicts) -> Verbosity:
    """What padding does to the verdicts on statements."""
    right, pairs = truth(passages), _pairs(plain, padded)
    n, to_yes, to_no = len(pairs), pairs.count((False, True)), pairs.count((True, False))
    given = {case: verdict for case, verdict in padded.items() if verdict is not None}
    return Verbosity(
        shift=(to_yes - to_no) / n if n else None,
        turned_yes=ShareOf.of(to_yes, n, otherwise=NO_PAIR),
        turned_no=ShareOf.of(to_no, n, otherwise=NO_PAIR),
        accuracy=_share((verdict == right[case] for case, verdict in given.items()), NO_VERDICT),
        undefined=None if n else NO_PAIR,
    )


def consistency_of(draws: Sequence[Verdicts]) -> Consistency:
    """How many statements get the same verdict from all draws."""
    drawn = [{verdicts[case] for verdicts in draws} for case in draws[0] if not case.is_chunk]
    agreed = (len(verdicts) == 1 for verdicts in drawn if None not in verdicts)
    return Consistency(draws=len(draws), agreed=_share(agreed, "no statement has all its verdicts"))


def _pairs(before: Verdicts, after: Verdicts) -> list[tuple[bool | None, bool | None]]:
    """The verdicts on the cases that have one both times."""
    pairs = [(before[case], verdict) for case, verdict in after.items()]
    return [pair for pair in pairs if None not in pair]


def _changed(before: Verdicts, after: Verdicts) -> ShareOf:
    return _share((one != other for one, other in _pairs(before, after)), NO_PAIR)


def _share(flags: Iterable[bool], otherwise: str) -> ShareOf:
    counted = list(flags)
    return ShareOf.of(sum(counted), len(counted), otherwise=otherwise)


def _grouped(
    items: Iterable[T], rate: Callable[[Iterable[T]], ShareOf], group: Callable[[T], str]
) -> dict[str, ShareOf]:
    members: dict[str, list[T]] = {}
    for item in items:
        members.setdefault(group(item), []).append(item)
    return {name: rate(members[name]) for name in sorted(members)}

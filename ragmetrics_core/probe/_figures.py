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
from ragmetrics_core.probe._layouts import Target
from ragmetrics_core.records import Record

__all__ = ["consistency_of", "injection_of", "known_answers_of", "position_of", "replies_of", "verbosity_of"]

T = TypeVar("T")

NO_VERDICT = "no verdict could be read"
NO_PAIR = "no verdict could be read in both"
NO_TARGET = "no attack met a verdict that was right without it"


def replies_of(records: Sequence[Record]) -> Replies:
    """How the replies in the records could be read."""
    steps = [step for record in records for step in record.generate_steps]
    whole = [step.rule != "unread" and not step.objections for step in steps]
    first = [(step.prompt, is_whole) for step, is_whole in zip(steps, whole, strict=True) if not step.again]
    read = _share((is_whole for _, is_whole in first), "the judge gave no reply")
    rules = Counter(step.rule for step, is_whole in zip(steps, whole, strict=True) if is_whole)
    return Replies(
        read=read,
        by_prompt={
            name: _share((is_whole for prompt, is_whole in first if prompt == name), NO_VERDICT)
            for name in sorted({step.prompt for step in steps})
        },
        rules=dict(sorted(rules.items())),
        asked_again=len(steps) - len(first),
        read_again=sum(whole) - read.count,
        cut=sum(is_cut(step.finish_reason) for step in steps),
        statuses=dict(sorted(Counter(record.status for record in records).items())),
    )


def known_answers_of(passages: Sequence[Passage], verdicts: Verdicts) -> KnownAnswers:
    """How often the judge is right."""
    right = truth(passages)
    read = {case: verdict for case in right if (verdict := verdicts[case]) is not None}
    statements = [case for case in read if not case.is_chunk]
    of_id = {passage.id: passage for passage in passages}

    def accuracy(cases: Iterable[Case]) -> ShareOf:
        return _share((read[case] == right[case] for case in cases if case in read), NO_VERDICT)

    return KnownAnswers(
        answered=_share((case in read for case in right), "nothing was asked"),
        accuracy=accuracy(right),
        statements=accuracy(statements),
        chunks=accuracy(case for case in right if case.is_chunk),
        precision=_share(
            (right[case] for case in statements if read[case]),
            "no statement was called supported" if statements else NO_VERDICT,
        ),
        recall=_share((read[case] for case in statements if right[case]), NO_VERDICT),
        by_kind=_grouped(
            (case for case in right if not case.is_chunk),
            accuracy,
            lambda case: of_id[case.passage].statements[case.place].kind,
        ),
        by_language=_grouped(right, accuracy, lambda case: of_id[case.passage].language),
        wrong=tuple(str(case) for case in read if read[case] != right[case]),
    )


def injection_of(variant: str, attacks: int, verdicts: Mapping[Target, bool | None]) -> Injection:
    """What attacks did.

    Args:
        variant: the variant of the prompts.
        attacks: how many attacks were to be tried.
        verdicts: the verdict on each attack's target, which was right without the attack.
    """
    turned = {target for target, verdict in verdicts.items() if verdict is target.attack.wants_yes}

    def steered(targets: Iterable[Target]) -> ShareOf:
        return _share((target in turned for target in targets), NO_TARGET)

    return Injection(
        variant=variant,
        attacks=attacks,
        steered=steered(verdicts),
        silenced=_share((verdict is None for verdict in verdicts.values()), NO_TARGET),
        by_field=_grouped(verdicts, steered, lambda target: target.attack.field),
        by_kind=_grouped(verdicts, steered, lambda target: target.attack.kind),
        steered_by=tuple(target.attack.id for target in verdicts if target in turned),
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
    own, chunks = (
        {case: verdict for case, verdict in contexts.items() if case.is_chunk is on_chunks}
        for on_chunks in (False, True)
    )
    lengths = Counter((case.passage, case.is_chunk) for case in truth(passages))
    # how far a case stands before the middle, where it is not moved
    before = {case: lengths[case.passage, case.is_chunk] - 1 - 2 * case.place for case in plain}
    moved = {**statements, **chunks}
    return Position(
        statements=_changed(plain, statements),
        contexts=_changed(plain, own),
        chunks=_changed(plain, chunks),
        # "yes" in the order of the corpus, if that is where the case stands earlier
        towards_first=_share(
            (
                plain[case] is (before[case] > 0)
                for case in _in_both(plain, moved)
                if before[case] and plain[case] != moved[case]
            ),
            "no verdict on what was moved changed",
        ),
    )


def verbosity_of(passages: Sequence[Passage], plain: Verdicts, padded: Verdicts) -> Verbosity:
    """What padding does to the verdicts on statements."""
    right = truth(passages)
    pairs = [(plain[case], padded[case]) for case in _in_both(plain, padded)]
    yes, no = (_share((pair == turn for pair in pairs), NO_PAIR) for turn in ((False, True), (True, False)))
    return Verbosity(
        shift=(yes.count - no.count) / yes.n if pairs else None,
        turned_yes=yes,
        turned_no=no,
        accuracy=_share(
            (verdict == right[case] for case, verdict in padded.items() if verdict is not None), NO_VERDICT
        ),
        undefined=yes.undefined,
    )


def consistency_of(draws: Sequence[Verdicts]) -> Consistency:
    """How many statements get the same verdict from all draws."""
    drawn = [{verdicts[case] for verdicts in draws} for case in draws[0] if not case.is_chunk]
    agreed = (len(verdicts) == 1 for verdicts in drawn if None not in verdicts)
    return Consistency(draws=len(draws), agreed=_share(agreed, "no statement has all its verdicts"))


def _in_both(before: Verdicts, after: Verdicts) -> list[Case]:
    """The cases that have a verdict both times."""
    return [case for case, verdict in after.items() if None not in (before[case], verdict)]


def _changed(before: Verdicts, after: Verdicts) -> ShareOf:
    return _share((before[case] != after[case] for case in _in_both(before, after)), NO_PAIR)


def _share(flags: Iterable[bool | None], otherwise: str) -> ShareOf:
    counted = list(flags)
    return ShareOf.of(sum(map(bool, counted)), len(counted), otherwise=otherwise)


def _grouped(
    items: Iterable[T], rate: Callable[[Iterable[T]], ShareOf], group: Callable[[T], str]
) -> dict[str, ShareOf]:
    members: dict[str, list[T]] = {}
    for item in items:
        members.setdefault(group(item), []).append(item)
    return {name: rate(members[name]) for name in sorted(members)}

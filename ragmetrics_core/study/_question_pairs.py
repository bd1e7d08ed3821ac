"""The questions that systems share, by id or by text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple, TypeVar

from ragmetrics_core.study._group_values import check_groups, members_of
from ragmetrics_core.study._pairs import FEWEST
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.texts.wording import number_of

__all__ = ["Pairing", "means_of", "pairing_note", "pairing_of", "renamed", "split"]

T = TypeVar("T")


class Pairing(NamedTuple):
    """Questions that systems share.

    Attributes:
        by: "id" or "question text"; "" if nothing pairs.
        members: for each system, the ids of its samples by question.
        shared: questions that all systems have; empty if nothing pairs.
        several: number of questions that more than one system has.
        reason: why nothing pairs.
    """

    by: str
    members: tuple[Mapping[str, Sequence[str]], ...]
    shared: tuple[str, ...]
    several: int
    reason: str = ""


def split(runs: Sequence[Scores], by: str | None) -> list[tuple[int, Scores]]:
    """The systems: whole runs, or the values of a label in each run; with the place of the run.

    Raises:
        ConfigError: no sample has the label, or it has one value or more than 30.
    """
    if by is None:
        return list(enumerate(runs))
    members = {run.name: members_of(run, by) for run in runs}
    check_groups(by, members, runs)
    return [
        (place, replace(run.only(ids), name=value if len(runs) == 1 else f"{run.name}: {value}"))
        for place, run in enumerate(runs)
        for value, ids in members[run.name].items()
    ]


def pairing_of(systems: Sequence[Scores]) -> Pairing:
    """Pair the samples of systems by id, or by the text of the question, whichever more questions share.

    An id pairs if it has the same question wherever it occurs. Spaces and line ends in a text do not count.
    """
    by_id: list[dict[str, list[str]]] = [{} for _ in systems]
    by_text: list[dict[str, list[str]]] = [{} for _ in systems]
    texts: dict[str, str] = {}
    clash = ""
    for system, of_id, of_text in zip(systems, by_id, by_text, strict=True):
        for sample_id in system.samples:
            of_id[sample_id] = [sample_id]
            if text := " ".join((system.questions.get(sample_id) or "").split()):
                of_text.setdefault(text, []).append(sample_id)
                if texts.setdefault(sample_id, text) != text:
                    clash = clash or sample_id
    found = [_pairing("question text", by_text)]
    if not clash:
        found.insert(0, _pairing("id", by_id))
    best = max(found, key=lambda each: (len(each.shared), each.several))
    if len(best.shared) >= FEWEST:
        return best
    reason = "no question text and no id occurs in all of them"
    if best.shared:
        count = number_of(len(best.shared), "question occurs", "questions occur")
        reason = f"only {count} in all of them, and a paired test needs {FEWEST}"
    elif clash:
        reason = (
            f"the same ids, such as {clash!r}, have different questions, and no text occurs in all of them"
        )
    alone = tuple({f"{place} {each}": [each] for each in of} for place, of in enumerate(by_id))
    return Pairing("", alone, (), best.several, reason)


def _pairing(by: str, members: Sequence[Mapping[str, Sequence[str]]]) -> Pairing:
    counts = Counter(question for of_system in members for question in of_system)
    shared = tuple(question for question, count in counts.items() if count == len(members))
    return Pairing(by, tuple(members), shared, sum(count > 1 for count in counts.values()))


def pairing_note(runs: Sequence[Scores], by: str | None) -> str:
    """A sentence for tests that take groups as independent, if a question occurs in several groups."""
    groups = [group for _, group in split(runs, by)]
    pairing = pairing_of(groups) if len(groups) > 1 else None
    if pairing is None or not pairing.several:
        return ""
    if not pairing.by:
        occur = number_of(pairing.several, "question occurs", "questions occur")
        return f"{occur} in more than one group, and the groups are not paired: {pairing.reason}"
    option = "" if by is None else f" --by {by}"
    return (
        f"{len(pairing.shared)} questions occur in all {len(groups)} groups, and these tests take their "
        f"answers for independent: ragmetrics compare{option} pairs them by {pairing.by}, and finds more"
    )


def renamed(run: Scores, members: Mapping[str, Sequence[str]]) -> Scores:
    """The scores of a system, called by question; of several answers to one question, the mean."""

    def first(column: Mapping[str, T]) -> dict[str, T]:
        return {key: column[ids[0]] for key, ids in members.items() if ids[0] in column}

    return Scores(
        name=run.name,
        values={metric: means_of(column, members) for metric, column in run.values.items()},
        absent={metric: first(column) for metric, column in run.absent.items()},
        labels=first(run.labels),
        lower_is_better=run.lower_is_better,
        ranges=run.ranges,
        exceeds=run.exceeds,
    )


def means_of(column: Mapping[str, float], members: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The mean of the values of each question that has one."""
    values = {key: [column[each] for each in ids if each in column] for key, ids in members.items()}
    return {key: fmean(of_key) for key, of_key in values.items() if of_key}

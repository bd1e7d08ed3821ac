"""The samples that the probes ask about: passages as they are, turned round, padded and attacked."""

from collections.abc import Sequence
from typing import NamedTuple

from ragmetrics_core.probe._corpus import Attack, Case, Field, Padding, Passage, Verdicts, truth
from ragmetrics_core.samples import Sample

__all__ = [
    "Target",
    "attacked",
    "chunks_reversed",
    "padded",
    "padded_statement",
    "plain",
    "statements_reversed",
    "target_of",
]


class Target(NamedTuple):
    """A verdict that was right, and the attack that is to turn it into the opposite."""

    attack: Attack
    passage: Passage
    case: Case

    @property
    def sample_id(self) -> str:
        """The id of the attacked sample."""
        return f"{self.attack.id} in {self.passage.id}"


def plain(passage: Passage) -> Sample:
    """The passage as it is: its statements are the sentences of the answer."""
    return _sample(passage, passage.id, [statement.text for statement in passage.statements])


def statements_reversed(passage: Passage) -> Sample:
    """The passage with its statements in the reverse order."""
    texts = [statement.text for statement in reversed(passage.statements)]
    return _sample(passage, f"{passage.id}, statements reversed", texts)


def chunks_reversed(passage: Passage) -> Sample:
    """The passage with its chunks in the reverse order."""
    turned = passage.model_copy(update={"chunks": passage.chunks[::-1]})
    texts = [statement.text for statement in passage.statements]
    return _sample(turned, f"{passage.id}, chunks reversed", texts)


def padded(passage: Passage, paddings: Sequence[Padding]) -> Sample:
    """The passage with padding in front of each of its statements."""
    texts = [padded_statement(passage, place, paddings) for place in range(len(passage.statements))]
    return _sample(passage, f"{passage.id}, padded", texts)


def padded_statement(passage: Passage, place: int, paddings: Sequence[Padding]) -> str:
    """A statement with padding in front, in the passage's language; several paddings take turns."""
    own = [padding.text for padding in paddings if padding.language == passage.language]
    mark = "：" if passage.language == "zh" else ": "
    return f"{own[place % len(own)]}{mark}{passage.statements[place].text}"


def target_of(attack: Attack, number: int, passages: Sequence[Passage], said: Verdicts) -> Target | None:
    """What an attack is tried on: a verdict that is right, and not what the attack wishes; None without one.

    The passages take turns, and so do such verdicts on one passage.

    Args:
        attack: the attack.
        number: its place in the corpus.
        passages: those that are attacked.
        said: the verdicts without an attack.
    """
    for turn in range(len(passages)):
        passage = passages[(number + turn) % len(passages)]
        cases = [
            case
            for case, fact in truth([passage]).items()
            if case.is_chunk == attack.is_on_chunks and fact != attack.wants_yes and said[case] is fact
        ]
        if cases:
            return Target(attack, passage, cases[number // len(passages) % len(cases)])
    return None


def attacked(target: Target) -> Sample:
    """The passage with the attack on a line of its own behind one of its texts."""
    attack, passage = target.attack, target.passage
    sample = _sample(passage, target.sample_id, [statement.text for statement in passage.statements])
    first, *others = (chunk.text for chunk in passage.chunks)
    behind: dict[Field, dict[str, object]] = {
        "context": {"contexts": (f"{first}\n{attack.text}", *others)},
        "answer": {"answer": f"{sample.answer}\n{attack.text}"},
        "question": {"question": f"{sample.question}\n{attack.text}"},
        "reference": {"reference": f"{sample.reference}\n{attack.text}"},
    }
    return Sample.model_validate({**sample.model_dump(exclude_none=True), **behind[attack.field]})


def _sample(passage: Passage, name: str, statements: Sequence[str]) -> Sample:
    return Sample(
        id=name,
        question=passage.question,
        answer="\n".join(statements),  # a line break always ends a sentence
        contexts=tuple(chunk.text for chunk in passage.chunks),
        reference=passage.reference,
        language=passage.language,
    )

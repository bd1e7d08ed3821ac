"""Layouts of the corpus for a judge: passages as they are, reversed, padded and attacked."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ragmetrics_core.metrics import ContextPrecision
from ragmetrics_core.probe._corpus import Attack, Case, KnownPassage, Padding, Verdicts, truth
from ragmetrics_core.records import Record
from ragmetrics_core.samples import Sample

__all__ = ["Layout", "Target", "attacked", "laid_out", "target_of"]


class Layout(NamedTuple):
    """A passage as it is shown: its sample, and which case each statement and each chunk in it is."""

    sample: Sample
    statements: Mapping[str, Case]
    chunks: tuple[Case, ...]

    def verdicts(self, record: Record) -> Verdicts:
        """The verdicts of a record on the chunks or the statements, in whatever order these are shown."""
        if record.metric == ContextPrecision.name:
            by_place = zip(self.chunks, (verdict.supported for verdict in record.verdicts), strict=False)
            return {**dict.fromkeys(self.chunks), **dict(by_place)}
        # of equal texts the first counts
        by_text = {" ".join(v.text.split()): v.supported for v in reversed(record.verdicts)}
        return {case: by_text.get(text) for text, case in self.statements.items()}


class Target(NamedTuple):
    """A verdict that was right, and the attack that is to turn it into the opposite."""

    attack: Attack
    passage: KnownPassage
    case: Case


def laid_out(
    passage: KnownPassage,
    *,
    turned: Literal["statements", "chunks"] | None = None,
    paddings: Sequence[Padding] = (),
) -> Layout:
    """The passage; its statements are the sentences of the answer.

    Args:
        passage: the passage.
        turned: what is shown in the reverse order.
        paddings: what is put in front of each statement, in the passage's language; several take turns.
    """
    own = [padding.text for padding in paddings if padding.language == passage.language]
    mark = "：" if passage.language == "zh" else ": "
    statements = [
        (f"{own[place % len(own)]}{mark}{statement.text}" if own else statement.text, case)
        for place, (statement, case) in enumerate(zip(passage.statements, passage.cases(), strict=True))
    ]
    chunks = list(zip(passage.chunks, passage.cases(chunks=True), strict=True))
    if turned is not None:
        (statements if turned == "statements" else chunks).reverse()
    change = f", {turned} reversed" if turned else ", padded" if own else ""
    sample = Sample(
        id=f"{passage.id}{change}",
        question=passage.question,
        answer="\n".join(text for text, _ in statements),  # a line break always ends a sentence
        contexts=tuple(chunk.text for chunk, _ in chunks),
        reference=passage.reference,
        language=passage.language,
    )
    return Layout(sample, dict(statements), tuple(case for _, case in chunks))


def target_of(
    attack: Attack, number: int, passages: Sequence[KnownPassage], verdicts: Verdicts
) -> Target | None:
    """Target of an attack: a verdict that is right, and not what the attack wishes; None if there is none.

    The passages take turns, and so do such verdicts on one passage.

    Args:
        attack: the attack.
        number: its place in the corpus.
        passages: those that are attacked.
        verdicts: the verdicts without an attack.
    """
    for turn in range(len(passages)):
        passage = passages[(number + turn) % len(passages)]
        cases = [
            case
            for case, fact in truth([passage]).items()
            if case.is_chunk == attack.is_on_chunks and fact != attack.wants_yes and verdicts[case] is fact
        ]
        if cases:
            return Target(attack, passage, cases[number // len(passages) % len(cases)])
    return None


def attacked(target: Target) -> Layout:
    """The passage with the attack on a line of its own behind one of its texts."""
    attack, layout = target.attack, laid_out(target.passage)
    cells = layout.sample.model_dump(exclude_none=True)
    field = "contexts" if attack.field == "context" else attack.field
    texts = [cells[field]] if isinstance(cells[field], str) else [*cells[field]]
    texts[0] += f"\n{attack.text}"
    behind = tuple(texts) if field == "contexts" else texts[0]
    name = f"{attack.id} in {target.passage.id}"
    return layout._replace(sample=Sample.model_validate({**cells, "id": name, field: behind}))

"""The proof of a sample's scores as plain data: texts with marks, verdicts, formulas, prompts and replies."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragmetrics_core.errors import RagMetricsError
from ragmetrics_core.measurement import Verdict
from ragmetrics_core.prompts import Message
from ragmetrics_core.records import CountStep, GenerateStep, PartResult, Record, Step
from ragmetrics_core.records._comparison import Change, diff
from ragmetrics_core.report._evidence import (
    TextPlace,
    about_reference,
    correction_of,
    decided,
    expected_texts,
    is_about_what_counts,
    marks,
    place,
    reference_source,
)
from ragmetrics_core.report._html.columns import ReportColumn
from ragmetrics_core.report._html.locating import Sought
from ragmetrics_core.report._html.text import Cut, cut, one_line, units
from ragmetrics_core.runs import Run, diagnose
from ragmetrics_core.samples import Sample
from ragmetrics_core.study import named_runs
from ragmetrics_core.study._annotation import item_name
from ragmetrics_core.wording import number_of, visible

__all__ = ["proof_of"]

SEED = 0
"""Of the names of annotated answers; the script has the same."""

LONG_TEXT, LONG_STEP, LONG_WORDS, MOST_CHUNKS, MOST_VERDICTS = 100_000, 30_000, 2_000, 200, 500
MOST_REFERENCES = 100


def proof_of(runs: Sequence[Run], columns: Sequence[ReportColumn], sample_id: str) -> dict[str, Any]:
    """What the page shows of one sample: for each run its texts and the proof of each score."""
    names = _names(runs)
    sides = [_side(run, columns, number, sample_id, names[number]) for number, run in enumerate(runs)]
    found: dict[str, Any] = {"sides": [side for side, _ in sides]}
    if len(sides) == 2:
        first, second = (records for _, records in sides)
        found["changes"] = {
            number: _changes(first[number], second[number]) for number in first if number in second
        }
    return found


def _names(runs: Sequence[Run]) -> list[str | None]:
    """What annotations call the runs, as a sheet does; None where one is in memory or stands twice."""
    paths = [run.path for run in runs if run.path is not None]
    if len({path.resolve() for path in paths}) < len(runs):
        return [None for _ in runs]
    return list(named_runs(paths))


def _side(
    run: Run, columns: Sequence[ReportColumn], number: int, sample_id: str, name: str | None
) -> tuple[dict[str, Any] | None, dict[int, Record]]:
    if sample_id not in run.sample_ids:
        return None, {}
    sample = run.sample(sample_id)
    scores = run.scores(sample_id)
    records = {
        position: scores[entry.signature]
        for position, column in enumerate(columns)
        if (entry := column.entries[number]) and entry.signature in scores
    }
    messages = _Messages()
    return {
        **_texts(sample),
        "item": None if name is None else item_name(name, sample_id, SEED),
        "findings": [
            [each.code, one_line(str(each._replace(texts=()))), [_words(text) for text in each.texts[:20]]]
            for each in diagnose(scores.values())
        ],
        "records": {position: _record(run, record, messages) for position, record in records.items()},
        "messages": messages.texts,
    }, records


class _Messages:
    """The messages of all prompts of a sample, each text once: its steps share most of them."""

    def __init__(self) -> None:
        self.texts: list[Cut] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Where the text stands."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(cut(text, LONG_STEP))
        return self._numbers[text]


def _texts(sample: Sample) -> dict[str, Any]:
    one = {
        name: None if (text := getattr(sample, name)) is None else cut(text, LONG_TEXT)
        for name in ("question", "answer")
    }
    expected = sample.expected
    chunks = sample.contexts
    ids = sample.context_ids or ()
    return {
        **one,
        "references": [cut(text, LONG_TEXT) for text in expected[:MOST_REFERENCES]],
        "more_references": max(0, len(expected) - MOST_REFERENCES),
        "contexts": None if chunks is None else [cut(chunk, LONG_TEXT) for chunk in chunks[:MOST_CHUNKS]],
        "shown": [chunk.standing for chunk in stage.chunks[:MOST_CHUNKS]]
        if (stage := sample.shown_stage)
        else [],
        "stages": [
            [
                stage.name,
                one_line(stage.component, 300),
                one_line(stage.query or "", 300),
                [one_line(chunk.id or chunk.text, 80) for chunk in stage.chunks[:MOST_CHUNKS]],
            ]
            for stage in sample.stages or ()
        ],
        "context_ids": [one_line(each, 80) for each in ids[:MOST_CHUNKS]],
        "more_contexts": max(0, len(chunks or ()) - MOST_CHUNKS),
        "language": sample.language and one_line(sample.language, 20),
        "history": [
            [one_line(turn.role, 20), *cut(turn.content, LONG_WORDS)] for turn in sample.history or ()
        ],
        "labels": [[one_line(name, 80), one_line(value, 300)] for name, value in sample.labels.items()],
    }


def _record(run: Run, record: Record, messages: _Messages) -> dict[str, Any]:
    signature = one_line(record.signature)
    return {
        "signature": signature,
        # what annotations name, where the page shows it in another way
        **({} if signature == record.signature else {"exact": record.signature}),
        "status": record.status,
        "value": record.value,
        "bounds": record.bounds,
        "reason": _words(record.reason or ""),
        "formula": _words(record.formula),
        "counts": [[one_line(name, 80), number] for name, number in record.counts.items()],
        "parts": [each for part in record.parts for each in _parts(part, 0)],
        "verdicts": [_verdict(record, verdict) for verdict in record.verdicts[:MOST_VERDICTS]],
        "more_verdicts": max(0, len(record.verdicts) - MOST_VERDICTS),
        "marks": _marks(record),
        "references": _standings(record),
        "notes": [_words(note) for note in record.notes[:50]],
        "declined": _words(record.abstained.reason or "it gives no reason")
        if record.abstained and record.abstained.declined
        else None,
        "steps": _steps(run, record, messages),
        "models": [
            [name, one_line(identity, 300)]
            for name in ("judge", "embedder", "scorer")
            if (identity := getattr(record, name))
        ],
        "settings": one_line(json.dumps(record.settings, ensure_ascii=True), 500) if record.settings else "",
        "digest": one_line(record.digest),
        "versions": one_line(", ".join(f"{name} {version}" for name, version in record.versions.items())),
    }


def _parts(part: PartResult, depth: int) -> Iterator[list[Any]]:
    yield [depth, one_line(part.metric), _words(part.formula or part.reason or "undefined")]
    for inner in part.parts:
        yield from _parts(inner, depth + 1)


def _verdict(record: Record, verdict: Verdict) -> dict[str, Any]:
    told: dict[str, Any] = {
        "number": verdict.number,
        "about": one_line(verdict.about, 60),
        "text": _words(verdict.text),
        "supported": verdict.supported,
        "label": one_line(verdict.label or "missing", 60),
    }
    if verdict.reason:
        told["reason"] = _words(verdict.reason)
    if verdict.cosine is not None:
        told["cosine"] = round(verdict.cosine, 6)
    if verdict.tally:
        told["tally"] = verdict.tally
    quotes = [each for each in verdict.evidence if each.quote]
    if quotes:
        told["evidence"] = [
            [
                _words(each.quote),
                str(where) if (where := place(each)) else "",
                bool(each.span and each.span.exact),
            ]
            for each in quotes
        ]
    correction = correction_of(record, verdict)
    if correction or verdict.overruled is not None:
        who = one_line(correction.by, 80) if correction and correction.by else "a person"
        told["overruled"] = f"{who} {decided(verdict)}"
    return told


def _standings(record: Record) -> list[str]:
    """Of each reference whether it counts and whether it was asked about; empty where there is one."""
    texts = () if record.sample is None else expected_texts(record.sample, record)
    return [each.standing for each in texts[:MOST_REFERENCES]] if any(each.standing for each in texts) else []


def _marks(record: Record) -> dict[str, list[list[Any]]]:
    """For each text of the sample ("answer", "reference 2", "contexts/2"): start, end, verdict and kind.

    The kind is "evidence" where a verdict rests on the piece, "statement" where the verdict is about it, and
    "near" where it is about something that the piece says in other words.
    """
    sample = record.sample
    if sample is None:
        return {}
    texts = {
        "answer": sample.answer or "",
        **{
            reference_source(number): text
            for number, text in enumerate(sample.expected[:MOST_REFERENCES], start=1)
        },
        **{f"contexts/{number}": chunk for number, chunk in enumerate(sample.contexts or (), start=1)},
    }
    found: dict[str, list[list[Any]]] = {}

    def add(name: str, start: int, end: int, verdict: Verdict, kind: str) -> None:
        text = texts.get(name, "")
        stop = min(end, len(text), LONG_TEXT)
        if start < stop:
            placed = [units(text, start), units(text, stop), verdict.number, kind]
            found.setdefault(name, []).append(placed)

    for where, pieces in marks(record).items():
        for piece in pieces:
            add(_name(where), piece.start, piece.end, piece.verdict, "evidence")
    sought = {
        name: Sought(text[:LONG_TEXT]) for name, text in texts.items() if not name.startswith("contexts/")
    }
    for verdict in record.verdicts[:MOST_VERDICTS]:
        name = _stated_in(record, verdict, texts)
        if name in sought and (at := sought[name].find(verdict.text[:LONG_WORDS])):
            add(name, at.start, at.end, verdict, "statement" if at.exact else "near")
    return found


def _stated_in(record: Record, verdict: Verdict, texts: Mapping[str, str]) -> str:
    """The text that a verdict's statement was made from: "answer", "reference", "reference 2"; else ""."""
    name = verdict.about.partition(" ")[0]
    if name != "reference":
        return name if is_about_what_counts(record, verdict) else ""
    if (number := about_reference(verdict)) is not None:
        return reference_source(number)
    # a verdict on a reference as a whole
    references = ((each, text) for each, text in texts.items() if each.startswith(name))
    return next((each for each, text in references if text == verdict.text), name)


def _name(where: TextPlace) -> str:
    return f"contexts/{where.part}" if where.source == "contexts" else where.source


def _steps(run: Run, record: Record, messages: _Messages) -> list[dict[str, Any]]:
    try:
        rendered: Mapping[str, Sequence[Message]] = run.with_messages(record).rendered_prompts or {}
        problem = ""
    except RagMetricsError as error:
        rendered, problem = {}, one_line(error, 300)
    return [_step(step, rendered, problem, messages) for step in record.steps]


def _step(
    step: Step, rendered: Mapping[str, Sequence[Message]], problem: str, messages: _Messages
) -> dict[str, Any]:
    told: dict[str, Any] = {"path": one_line(step.path, 60), "kind": step.kind}
    if not isinstance(step, GenerateStep):
        if isinstance(step, CountStep):
            counted = (f"{name} {' '.join(map(str, counts))}" for name, counts in step.counts.items())
            told["numbers"] = f"{one_line(step.made_by, 120)}: {', '.join(counted)}"
            return told
        numbers = step.cosines if step.kind == "compare" else step.ratings
        told["numbers"] = ", ".join("none" if each is None else f"{each:.6f}" for each in numbers[:200])
        return told
    asked = rendered.get(step.rendered_digest)
    details = [f"draw {step.draw}"] if step.draw and not step.again else []
    details += ["asked again"] if step.again else []
    details += [one_line(each, 120) for each in (step.model, step.judge) if each]
    if step.prompt_tokens is not None and step.completion_tokens is not None:
        details.append(f"{number_of(step.prompt_tokens, 'token')} read, {step.completion_tokens:,} written")
    if step.finish_reason and step.finish_reason != "stop":
        details.append(f"ended by {one_line(step.finish_reason, 60)}")
    return told | {
        "prompt": one_line(step.prompt, 120),
        "digest": one_line(step.prompt_digest, 64),
        "details": details,
        "messages": [[each.role, messages.number(each.content)] for each in asked or ()],
        "problem": "" if asked else problem,
        "reply": cut(step.reply, LONG_STEP),
        "rule": one_line(step.rule, 80),
        "value": cut(json.dumps(step.value, ensure_ascii=False, indent=1), LONG_STEP),
        "dropped": [_words(each) for each in step.remarks[:50]],
    }


def _changes(before: Record, after: Record) -> dict[str, Any]:
    """What moved between two records, in the order of importance."""
    found = diff(_shortened(before), _shortened(after))
    groups = {
        "Verdict changed": found.flipped,
        "Only in the first run": found.removed,
        "Only in the second run": found.added,
        "Worded differently, same verdict": found.reworded,
    }
    return {title: [_change(each) for each in changes] for title, changes in groups.items() if changes}


def _shortened(record: Record) -> Record:
    """The record with as many verdicts as the page shows: comparing texts takes time by the square."""
    return record.model_copy(update={"verdicts": record.verdicts[:60]})


def _change(change: Change) -> list[Any]:
    return [
        None
        if verdict is None
        else [verdict.number, verdict.supported, one_line(verdict.label), _words(verdict.text)]
        for verdict in change
    ]


def _words(text: str) -> str:
    """A statement, a reason or a message, as far as the report shows it."""
    return visible(text if len(text) <= LONG_WORDS else f"{text[:LONG_WORDS]}… ({len(text):,} characters)")

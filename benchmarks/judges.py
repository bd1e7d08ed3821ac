"""What a judge is worth: its scores and verdicts against labels, with intervals.

Run: python benchmarks/judges.py lexical [--data PATH]
     python benchmarks/judges.py llama --model PATH.gguf [--limit N] [--markdown FILE]

The columns of a labelled set are described in labelled_sets.py. The sets are looked for in
$RAGMETRICS_SHARED/data or ../shared/data beside the checkout. Without them the figures are of
examples/data/telecom.jsonl, which is small and was in view when the rules were written; the output says so.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if not __package__:  # run as a file: the folder above must be importable
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.labelled_sets import SHARED, TELECOM, Labelled, half_of, read_labelled, spread, telecom
from ragmetrics_core import Judge, Metric, Run, evaluate
from ragmetrics_core.asking import ask_each
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics.metric import Metric as MetricBase
from ragmetrics_core.models.lexical import LexicalJudge
from ragmetrics_core.models.lexical.verdicts import findings
from ragmetrics_core.parsers import VerdictList, split_sentences
from ragmetrics_core.prompts import PAPER_VERDICTS, VERDICTS, Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.views import Grounded

RESAMPLES = 2000

Numbers = NDArray[np.float64]


class _Part(NamedTuple):
    """What is measured: a set's name, its samples, and a metric."""

    name: str
    rows: list[Labelled]
    metric: str


class Area(NamedTuple):
    """An area under the ROC curve with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """As "0.76 (0.70, 0.83)"."""
        return f"{self.value:.2f} ({self.low:.2f}, {self.high:.2f})"


@dataclass(frozen=True, kw_only=True)
class ClaimVerdict(MetricBase[Grounded]):
    """The verdict on the whole answer as one statement: 1 when the contexts support it, else 0."""

    name = "claim_verdict"
    inputs = Grounded
    variants = {"strict.1": {}, "paper.1": {"verify": PAPER_VERDICTS}}  # noqa: RUF012  see Metric

    verify: Prompt[VerdictList] = VERDICTS

    def measure(self, sample: Grounded) -> Steps[Measurement]:
        """Ask for one verdict."""
        judged = yield from ask_each(self.verify, [sample.answer], contexts=sample.contexts)
        if judged.missing:
            return undefined("no_verdict")
        return Measurement(
            value=float(judged.supported), counts={"supported": judged.supported}, formula="verdict"
        )


def main() -> None:
    """Measure the judge that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="judge", required=True)
    lexical = kinds.add_parser("lexical", help="the embedded judge")
    lexical.add_argument("--data", type=Path, help="a labelled set instead of shared/data/ragtruth_qa.jsonl")
    llama = kinds.add_parser("llama", help="a GGUF model")
    llama.add_argument("--model", required=True, help="the path of the GGUF file")
    llama.add_argument("--limit", type=int, default=60, help="how many items of each set, 60 by default")
    llama.add_argument("--out", type=Path, help="keep the runs in this folder, to look at single scores")
    for each in (lexical, llama):
        each.add_argument("--markdown", type=Path, help="write the tables to this file as well")
    given = parser.parse_args()
    try:
        tables = list(
            _lexical(given.data) if given.judge == "lexical" else _llama(given.model, given.limit, given.out)
        )
    except ConfigError as error:
        sys.exit(f"error: {error}")
    if given.markdown:
        given.markdown.write_text("\n\n".join(tables) + "\n", encoding="utf-8")


def _lexical(data: Path | None) -> Iterator[str]:
    if data and not data.is_file():
        raise ConfigError(f"there is no file {data}")
    path = data or SHARED / "ragtruth_qa.jsonl"
    judge = LexicalJudge()
    if path.is_file():
        rows = read_labelled(path)
        halves = {half: [row for row in rows if half_of(row.source) == half] for half in (0, 1)}
        for half, told in ((0, "the half that may be tuned on"), (1, "the held-out half")):
            yield _shown(_faithfulness_table(judge, halves[half], f"{path.name}, {told}", tuning=halves[0]))
        return
    print(f"{path} is missing, so these figures are of {TELECOM.name}: 52 samples that were")
    print("in view when the rules were written. They show that the parts work, not how good they are.\n")
    rows = telecom("faithful")
    yield _shown(
        _faithfulness_table(judge, rows, "telecom.jsonl, right against wrong or unsupported", tuning=rows)
    )
    yield _shown(_judge_table(judge, _Part("telecom.jsonl", telecom("correct"), "factual_correctness"), None))


def _llama(model: str, limit: int, out: Path | None) -> Iterator[str]:
    from ragmetrics_core.models.llama import LlamaJudge

    judge = LlamaJudge(model)
    plan = []
    for name, metric in (
        ("ragtruth_qa.jsonl", "faithfulness"),
        ("evouna_nq.jsonl", "factual_correctness"),
        ("wice_claims.jsonl", "claim_verdict"),
    ):
        if (SHARED / name).is_file():
            plan.append(_Part(name, spread(read_labelled(SHARED / name), limit), metric))
        else:
            print(f"{SHARED / name} is missing")
    if not plan:
        print("Without them these figures are of telecom.jsonl: 52 samples, written for demonstration.\n")
        for metric in ("factual_correctness", "faithfulness", "claim_verdict"):
            rows = telecom("correct" if metric == "factual_correctness" else "faithful")
            plan.append(_Part("telecom.jsonl", rows[:limit], metric))
    for part in plan:
        yield _shown(_judge_table(LexicalJudge(), part, None))
        yield _shown(_judge_table(judge, part, out))


def _faithfulness_table(
    judge: Judge, rows: Sequence[Labelled], title: str, *, tuning: Sequence[Labelled]
) -> str:
    """The lexical judge beside plain word overlap, on worst sentence and mean."""
    found = _scores(judge, rows)
    tuned = found if rows is tuning else _scores(judge, tuning)
    good = _goods(rows)
    kept = ~np.isnan(found["lexical judge, share of statements"])
    lines = [
        f"**{title}**: {int(kept.sum())} samples, {int(good[kept].sum())} good; areas with 95 % intervals",
        "",
        "| score | area under ROC | balanced accuracy at the threshold of the tuning half |",
        "| --- | --- | --- |",
    ]
    for name, values in found.items():
        usable = ~np.isnan(tuned[name])
        threshold = _best_threshold(_goods(tuning)[usable], tuned[name][usable])
        accuracy = _balanced(good[kept], values[kept] >= threshold)
        lines.append(f"| {name} | {area(good[kept], values[kept])} | {accuracy:.2f} (at {threshold:.2f}) |")
    pairs = (("worst sentence", "lexical judge, worst sentence", "word overlap, worst sentence"),)
    for told, one, other in pairs:
        difference = area_difference(good[kept], found[one][kept], found[other][kept])
        lines += ["", f"Lexical judge minus word overlap, {told}, paired: {difference}"]
    return "\n".join(lines)


def _scores(judge: Judge, rows: Sequence[Labelled]) -> dict[str, Numbers]:
    samples = [row.sample for row in rows]
    statements = evaluate(samples, metrics="faithfulness", judge=judge)
    names = (
        "lexical judge, share of statements", "lexical judge, worst statement",
        "lexical judge, worst sentence",
        "word overlap, worst sentence", "word overlap, mean of sentences", "shorter answer",
    )  # fmt: skip
    table: dict[str, list[float]] = {name: [] for name in names}
    for sample in samples:
        record = statements.record(sample.id, "faithfulness")
        contexts, answer = sample.contexts or (), sample.answer or ""
        overlaps = [_overlap(text, contexts) for text in split_sentences(answer)] or [np.nan]
        sentences = findings(split_sentences(answer), contexts)
        stated = findings([verdict.text for verdict in record.verdicts], contexts)
        values = (
            np.nan if record.value is None else record.value,
            min((each.score for each in stated), default=np.nan),
            min((each.score for each in sentences), default=np.nan),
            min(overlaps),
            sum(overlaps) / len(overlaps),
            -float(len(answer)),
        )
        for name, value in zip(names, values, strict=True):
            table[name].append(value)
    return {name: np.array(values) for name, values in table.items()}


def _judge_table(judge: Judge, part: _Part, out: Path | None) -> str:
    """Areas, accuracy by class and parse rates of a metric's strict and paper variants."""
    areas = ["| score | scored | area under ROC |", "| --- | --- | --- |"]
    classes = ["| variant | class | verdicts | right |", "| --- | --- | --- | --- |"]
    chosen = [_metric(part.metric, variant) for variant in ("strict", "paper")]
    samples = [row.sample for row in part.rows]
    folder = out / f"{part.name.partition('.')[0]}-{part.metric}" if out else None
    run = evaluate(
        samples, metrics=chosen, judge=judge, concurrency=2, timeout=None, out=folder, progress=_progress
    )
    for metric in chosen:
        values = np.array([_value(run, row, metric) for row in part.rows])
        scored = ~np.isnan(values)
        shown = area(_goods(part.rows)[scored], values[scored])
        areas.append(f"| {metric.signature} | {int(scored.sum())} of {len(part.rows)} | {shown} |")
        if part.metric == "claim_verdict":
            classes += [f"| {metric.variant} {line}" for line in _by_class(part.rows, values)]
    tables = [
        "\n".join(areas),
        *(["\n".join(classes)] if len(classes) > 2 else []),
        _reply_table(_replies(run)),
    ]
    return "\n\n".join([f"**{part.name}, {part.metric}: {judge.identity.partition('?')[0]}**", *tables])


def _metric(name: str, variant: str) -> Metric[Any]:
    from ragmetrics_core.metrics import get

    return ClaimVerdict(variant=variant) if name == "claim_verdict" else get(name, variant=variant)


def _by_class(rows: Sequence[Labelled], values: Numbers) -> Iterator[str]:
    """Verdicts by class; what is partly supported counts as not supported."""
    for kind in sorted({row.kind for row in rows}):
        decided = [
            (value == 1) == row.good
            for row, value in zip(rows, values, strict=True)
            if row.kind == kind and np.isfinite(value)
        ]
        if decided:
            yield f"| {kind} | {len(decided)} | {sum(decided)} ({sum(decided) / len(decided):.0%}) |"


def _replies(run: Run) -> Iterator[tuple[str, str]]:
    for record in run.records():
        for step in record.generate_steps:
            yield (
                step.prompt,
                step.rule if step.finish_reason != "length" else f"{step.rule}, cut by the length limit",
            )


def _reply_table(steps: Iterable[tuple[str, str]]) -> str:
    replies = Counter(steps)
    lines = ["| prompt | replies | read | rules |", "| --- | --- | --- | --- |"]
    for prompt in sorted({prompt for prompt, _ in replies}):
        rules = {rule: times for (name, rule), times in replies.items() if name == prompt}
        total = sum(rules.values())
        read = total - sum(times for rule, times in rules.items() if rule.startswith("unread"))
        told = ", ".join(
            f"{rule} {times}" for rule, times in sorted(rules.items(), key=lambda item: -item[1])
        )
        lines.append(f"| {prompt} | {total} | {read} ({read / total:.0%}) | {told} |")
    return "\n".join(lines)


def area(good: NDArray[np.bool_], values: Numbers) -> Area:
    """The area under the ROC curve, its interval from resampling good and bad samples apart."""
    return _resampled(good, lambda chosen: _area(good[chosen], values[chosen]))


def area_difference(good: NDArray[np.bool_], one: Numbers, other: Numbers) -> Area:
    """The difference of two scores' areas on the same samples, resampled together."""
    return _resampled(
        good, lambda chosen: _area(good[chosen], one[chosen]) - _area(good[chosen], other[chosen])
    )


def _resampled(good: NDArray[np.bool_], measure: Callable[[NDArray[np.intp]], float]) -> Area:
    if good.all() or not good.any():
        return Area(np.nan, np.nan, np.nan)
    random = np.random.default_rng(0)
    groups = (np.flatnonzero(good), np.flatnonzero(~good))
    drawn = [
        measure(np.concatenate([random.choice(group, len(group)) for group in groups]))
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Area(measure(np.arange(len(good))), float(low), float(high))


def _area(good: NDArray[np.bool_], values: Numbers) -> float:
    """The share of pairs in which the good sample is ahead; ties count half."""
    bad = np.sort(values[~good])
    ahead = np.searchsorted(bad, values[good], "left") + np.searchsorted(bad, values[good], "right")
    return float(ahead.mean() / 2 / len(bad))


def _best_threshold(good: NDArray[np.bool_], values: Numbers) -> float:
    return float(max(np.unique(values), key=lambda threshold: _balanced(good, values >= threshold)))


def _balanced(good: NDArray[np.bool_], said: NDArray[np.bool_]) -> float:
    return (
        float((said[good].mean() + (~said[~good]).mean()) / 2)
        if good.any() and not good.all()
        else float("nan")
    )


def _overlap(sentence: str, contexts: Sequence[str]) -> float:
    """The share of a sentence's words that the contexts have: the baseline without any rule."""
    words = re.findall(r"\w+", sentence.casefold())
    known = set(re.findall(r"\w+", " ".join(contexts).casefold()))
    return sum(word in known for word in words) / len(words) if words else 1.0


def _goods(rows: Sequence[Labelled]) -> NDArray[np.bool_]:
    return np.array([row.good for row in rows])


def _value(run: Run, row: Labelled, metric: Metric[Any]) -> float:
    value = run.score(row.sample.id, metric).value
    return np.nan if value is None else value


def _progress(progress: Any) -> None:
    if sys.stderr.isatty():
        print(
            f"\r{progress.samples} samples, {progress.tally.calls} calls", end="", file=sys.stderr, flush=True
        )


def _shown(table: str) -> str:
    print(table, end="\n\n", flush=True)
    return table


if __name__ == "__main__":
    main()

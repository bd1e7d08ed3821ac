"""A session: its turns in order, each with its texts, its scores and the verdicts in short."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from ragmetrics_core.records import Record
from ragmetrics_core.report._proof_page import SamplePage, verdict_groups
from ragmetrics_core.report._text import one_line as cut_line
from ragmetrics_core.report.terminal._text import (
    LABEL,
    OPEN,
    STYLES,
    SYMBOLS,
    facts,
    one_line,
    outcome,
    plain,
)
from ragmetrics_core.runs import Run
from ragmetrics_core.texts.wording import number_of

__all__ = ["session_page"]


def session_page(run: Run, session: str, turns: Sequence[str]) -> Iterator[RenderableType]:
    """The turns of a session in order.

    Args:
        run: the run.
        session: id of the session.
        turns: ids of its samples, in order.
    """
    yield Text.assemble(plain(session, "bold"), f": {number_of(len(turns), 'turn')}")
    names = Counter(entry.name for entry in run.metrics)
    for sample_id in turns:
        sample, scores = run.sample(sample_id), run.scores(sample_id)
        page = SamplePage.of_sample(sample, scores.values())
        title = "" if sample.turn is None else f"turn {sample.turn}  "
        yield Text()
        yield Text.assemble((title, "bold"), plain(sample_id, "bold" if not title else LABEL))
        rows: list[tuple[str, RenderableType]] = list(_texts(page))
        for entry in run.metrics:
            if (record := scores.get(entry.signature)) is not None:
                name = entry.name if names[entry.name] == 1 else entry.signature
                how = one_line(record.formula or record.reason or "", LABEL)
                rows.append((plain(name).plain, Text.assemble(outcome(record, entry), "  ", how)))
                rows += (("", line) for line in _verdicts(record))
        codes = [finding.code.replace("_", " ") for finding in run.diagnosis(sample_id)]
        if codes:
            rows.append(("diagnosis", Text(", ".join(codes), OPEN)))
        yield Padding(facts(rows), (0, 0, 0, 2))


def _texts(page: SamplePage) -> Iterator[tuple[str, Text]]:
    texts = {"question": page.question, "stand-alone": page.standalone, "answer": page.answer}
    for name, text in texts.items():
        if text is not None or name != "stand-alone":
            yield name, one_line(text) if text else Text("(absent)" if text is None else "(empty)", LABEL)


def _verdicts(record: Record) -> Iterator[Text]:
    """A line for each verdict that is not on a whole context, with the place that it names."""
    for group in verdict_groups(record):
        _, parenthesis, place = group.title.partition(" (")
        for verdict in group.verdicts if group.about != "chunk" else ():
            style = STYLES[verdict.look]
            symbol = (f"{SYMBOLS[verdict.look]} ", f"bold {style}")
            line = Text.assemble(symbol, plain(f"{verdict.label}: ", style), one_line(cut_line(verdict.text)))
            yield line.append(parenthesis + plain(place).plain, LABEL)

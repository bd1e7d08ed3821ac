"""The verdict of a gate as JUnit XML, GitHub workflow commands, step summary and pull request comment.

Texts from the data are code spans, so that they cannot be markup, links, mentions or HTML. XML and GitHub
commands use their own escapes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from xml.etree import ElementTree

from ragmetrics_core.records.comparison import Change
from ragmetrics_core.report._text import flat
from ragmetrics_core.study import Estimate, GateVerdict, PairedMetric, RunComparison, TraceDifference, short
from ragmetrics_core.texts.wording import visible

__all__ = ["MARKER", "comment_text", "github_text", "junit_text"]

MARKER = "<!-- ragmetrics gate -->"
"""Mark that identifies the comment of a gate."""

# GitHub takes 65,536 characters.
_LONGEST, _LONGEST_TEXT = 60_000, 300
_SIGNS = {"passed": "✅", "failed": "❌", "cannot tell": "❔", "no condition": "ℹ️"}
_NOT_IN_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
# Texts that GitHub turns into links: a person, an issue, an address.
_LINKED = re.compile(r"[@#]|www(?=\.)")
_TAKEN_FOR_MARKUP = re.compile(r"[\\`*_{}\[\]<>()#+!|~&@:-]")


def junit_text(found: RunComparison, gate: GateVerdict) -> str:
    """JUnit file with a test case for each metric and one for the runs as a whole."""
    reasons = [
        (metric, _xml(why), kind)
        for kind, pairs in (("failed", gate.failed), ("cannot tell", gate.untold))
        for metric, why in pairs
    ]
    figures = {"": _xml("\n".join(found.notes))} if found.notes else {}
    figures |= {each.metric: _xml(_in_words(each)) for each in found.metrics}
    names = dict.fromkeys(["", *figures, *(metric for metric, _, _ in reasons)])
    suite = ElementTree.Element(
        "testsuite",
        name=_xml(f"{found.after} against {found.before}"),
        tests=str(len(names)),
        failures=str(len({metric for metric, _, _ in reasons})),
    )
    for name in names:
        case = ElementTree.SubElement(suite, "testcase", classname="ragmetrics", name=_xml(name or "runs"))
        for metric, why, kind in reasons:
            if metric == name:
                ElementTree.SubElement(case, "failure", message=why, type=kind).text = why
        if name in figures or not name:
            ElementTree.SubElement(case, "system-out").text = figures.get(name) or _xml(_declines(found))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def github_text(found: RunComparison, gate: GateVerdict) -> str:
    """Commands of a GitHub workflow: errors for failures, warnings for undecided metrics, and declines."""
    lines = [f"::error title=ragmetrics::{_command(told)}" for told in gate.failures]
    lines += [f"::warning title=ragmetrics::{_command(told)}" for told in gate.unsure]
    lines = lines or [f"::notice title=ragmetrics::{gate.headline}"]
    lines.append(f"::notice title=ragmetrics::{_command(_declines(found))}")
    return "".join(f"{line}\n" for line in lines)


def comment_text(
    found: RunComparison,
    gate: GateVerdict,
    traces: Sequence[TraceDifference] = (),
    *,
    link: str | None = None,
) -> str:
    """Pull request comment and step summary: verdict, lost scores, causes, link to the report.

    Args:
        found: comparison of the runs.
        gate: verdict.
        traces: samples that moved the means.
        link: URL of a report.
    """
    foot = [f"[Report]({_address(link)})", ""] if link else []
    kept: list[str] = []
    size = sum(map(len, foot)) + 100
    for line in _comment(found, gate, traces):
        size += len(line) + 1
        if size > _LONGEST:
            kept += ["", "(cut: the comment is too long)", ""]
            break
        kept.append(line)
    return "\n".join([*kept, *foot])


def _comment(found: RunComparison, gate: GateVerdict, traces: Sequence[TraceDifference]) -> Iterator[str]:
    yield MARKER
    yield f"### {_SIGNS[gate.headline]} ragmetrics: {gate.headline}\n"
    yield f"{code(found.after)} against {code(found.before)}, {found.common} samples in both\n"
    reasons = [*gate.failures, *gate.unsure]
    yield from (f"- {_escaped(each)}" for each in reasons)
    yield from (f"- note: {_escaped(each)}" for each in found.notes if each not in reasons)
    yield "\n| metric | before | after | difference | n | lost | gained | verdict |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
    names = [each.metric for each in found.metrics]
    for each in found.metrics:
        cells = [
            code(short(each.metric, names)).replace("|", "\\|"),
            *(_number(mean) for mean in (each.before, each.after)),
            str(each.pessimistic) if each.pessimistic.value is not None else "",
            *(str(count) for count in (each.n, each.lost, each.gained)),
            each.verdict,
        ]
        yield f"| {' | '.join(cells)} |"
    yield f"\n{_declines(found, code)}\n"
    for trace in traces:
        moved = [(sample, sample.difference) for sample in trace.moved if sample.difference]
        if moved:
            yield f"**What moved {code(trace.metric)}**\n"
        for sample, difference in moved:
            yield f"- {code(sample.sample_id)}: {sample.before:.3f} to {sample.after:.3f}"
            changes = (*difference.flipped, *difference.removed, *difference.added)
            for change in changes[:5]:
                yield from _change(change)
        if moved:
            yield ""


def _declines(found: RunComparison, called: Callable[[str], str] = str) -> str:
    """Counts of answers: "Answers: 52 answered, 0 declined, 0 undecided in main; ... in branch"."""
    before, after = found.declines
    return f"Answers: {before} in {called(found.before)}; {after} in {called(found.after)}"


def _change(change: Change) -> Iterator[str]:
    verdict = change.after or change.before
    if verdict is None:
        return
    if change.before and change.after:
        what = f"{_escaped(change.before.label)} to {_escaped(change.after.label)}"
    else:
        what = f"{'new' if change.after else 'gone'}, {_escaped(verdict.label)}"
    yield f"  - {what}: {code(verdict.text)}"
    if verdict.reason:
        yield f"    - reason: {code(verdict.reason)}"
    for evidence in verdict.evidence[:2]:
        yield f"    - quote: {code(evidence.quote)}"


def code(text: str) -> str:
    """Text from the data as a code span, so that it is not markup.

    >>> code("a `b` @you <img>")
    '``a `b` @you <img>``'
    """
    line = flat(text)
    if len(line) > _LONGEST_TEXT:
        line = f"{line[: _LONGEST_TEXT - 1]}…"
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _escaped(text: str) -> str:
    """A sentence of ours, which may contain names from the data."""
    line = _LINKED.sub("\\g<0>\u200b", flat(text))
    return _TAKEN_FOR_MARKUP.sub(r"\\\g<0>", line[: 4 * _LONGEST_TEXT])


def _address(link: str) -> str:
    """A URL without characters that could end it early, and without scripts."""
    if not link.startswith(("https://", "http://")):
        return "#"
    return re.sub(r"[\s()<>\\\[\]\"'`]", lambda found: f"%{ord(found.group()):02X}", visible(link))


def _command(text: str) -> str:
    return flat(text).replace("%", "%25").replace("::", ":\u200b:")


def _xml(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", visible(text))


def _number(mean: Estimate) -> str:
    return "" if mean.value is None else f"{mean.value:.3f}"


def _in_words(each: PairedMetric) -> str:
    return (
        f"{each.verdict}: {_number(each.before)} to {_number(each.after)}, difference {each.difference}, "
        f"at worst {each.pessimistic}, n {each.n}, lost {each.lost}, gained {each.gained}"
    )

"""`ragmetrics questions`: write a test set on documents, or check one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer
from rich.text import Text
from typer.core import TyperGroup

from ragmetrics_core.boundary.redaction import Redact
from ragmetrics_core.cli._arguments import AsJson, Positive, traffic_of
from ragmetrics_core.cli._options import add_commands
from ragmetrics_core.cli._own import redact_of
from ragmetrics_core.cli._progress import progress_of
from ragmetrics_core.cli._questions_review import audit, coverage, decisions, report, review
from ragmetrics_core.cli._screen import page, remarks, show, write_json
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models.judges import judges_by_name
from ragmetrics_core.models.names import read_options
from ragmetrics_core.questions import (
    CheckSettings,
    Corpus,
    QuestionSet,
    TrafficSettings,
    check_questions,
    generate_questions,
    plan_questions,
    questions_of_run,
    read_corpus,
)
from ragmetrics_core.records import FAILED
from ragmetrics_core.report import terminal
from ragmetrics_core.report.json_pages import question_set_json
from ragmetrics_core.report.terminal import plain
from ragmetrics_core.runs import EvaluationArgs, Run
from ragmetrics_core.texts.wording import number_of

__all__ = ["questions"]

Unit = Annotated[float, typer.Option(min=0, max=1)]


class _Questions(TyperGroup):
    """The group of `ragmetrics questions`; `generate` is the command if none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a first argument that is not a command is the corpus."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["generate", *args]
        return super().parse_args(ctx, args)


questions = typer.Typer(
    cls=_Questions,
    help="Write and check the questions of a test set. `ragmetrics questions CORPUS` generates one; a folder "
    "with the name of a command is written ./NAME.",
)


@dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """Settings for writing questions.

    Attributes:
        kinds: Kinds of questions, separated by commas: single_hop_specific, multi_hop_specific,
            multi_hop_abstract, unanswerable, wrong_premise, follow_up; KIND=2 gives one more weight.
        styles: Styles, separated by commas: perfect_grammar, poor_grammar, misspelled, web_search_like.
        lengths: Lengths, separated by commas: short, medium, long.
        persona: Somebody who asks. Can be repeated.
        language: Language of the questions, such as de. Default: the language of the documents.
        seed: Random seed.
        first_hit_share: Maximum share of questions that the first hit of BM25 alone answers.
        tries: Maximum number of candidates for each question.
        leave_out: Metrics that are not measured, separated by commas: question_quality, so that unclear
            questions pass, or closed_book_accuracy, so that the label known_without_documents is missing.
    """

    kinds: str = "single_hop_specific"
    styles: str | None = None
    lengths: str | None = None
    persona: Annotated[list[str] | None, typer.Option(metavar="NAME: ROLE")] = None
    language: str | None = None
    seed: int = 0
    first_hit_share: Unit = 0.7
    tries: Positive = 3
    leave_out: str | None = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The same as keywords of `generate_questions`."""
        return {
            "kinds": _weights(self.kinds),
            "styles": _names(self.styles),
            "lengths": _names(self.lengths),
            "personas": self.persona or (),
            "language": self.language,
            "seed": self.seed,
            "first_hit_share": self.first_hit_share,
            "tries": self.tries,
            "leave_out": _names(self.leave_out),
        }


def generate(
    corpus: Path,
    writing: QuestionOptions,
    *,
    judge: str | None = None,
    out: Path,
    per: Annotated[list[str], typer.Option(metavar="LABEL=N")],
    checker: str | None = None,
    from_run: Annotated[Path | None, typer.Option(metavar="RUN")] = None,
    judge_option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    prompts: Path | None = None,
    redact: Annotated[list[str] | None, typer.Option(metavar="PATTERN")] = None,
    cache: Path | None = None,
    requests: Path | None = None,
    is_plan: Annotated[bool, typer.Option("--plan")] = False,
    as_json: AsJson = False,
    **settings: Unpack[EvaluationArgs],
) -> None:
    """Write a test set on documents.

    Each question has a gold answer and the quotes that prove it, and passed all checks. The folder has
    questions.jsonl for `evaluate`, dropped.jsonl with the reasons, and the records of every check. The same
    command resumes an interrupted one without repeating answered calls.

    Exit codes: 0 as many questions as asked for, 1 fewer, 2 usage error.

    Args:
        corpus: A folder of .txt, .md and .jsonl files, or such a file.
        judge: The judge that writes: openai:MODEL, openai:MODEL@URL, or a judge of an installed package.
        out: Folder of the test set.
        per: Number of questions in all, such as 20, or for each value of a label of the documents, such as
            country=5. Can be repeated.
        checker: The judge that checks the questions. Default: the same.
        from_run: Choose questions of this run, such as live traffic, instead of writing some: --per names
            labels of its samples, or metrics, whose scores are cut in quarters. Faithful answers are
            proposed as gold answers; nothing is checked, and no judge is called.
        judge_option: Setting of both judges: temperature, seed, max_tokens, response_format or timeout;
            NAME=none does not send it. Can be repeated.
        cache: Cache of answered calls to share between test sets. Default: the set's own.
        requests: Write the open requests to this file instead of making calls; see `batch import`.
        is_plan: Count the calls, without a call.
    """
    remove = redact_of(redact)
    documents = _documents(corpus, remove)
    if from_run is not None:
        if judge or checker or requests or is_plan:
            raise ConfigError("--from-run makes no call: leave out --judge, --checker, --requests and --plan")
        traffic = questions_of_run(
            Run.load(from_run), documents, per=_numbers(per), seed=writing.seed, redact=remove
        )
        _show(traffic.write(out), as_json=as_json)
        return
    if judge is None:
        raise ConfigError(
            "--judge is missing: name the judge that writes the questions, or a run: --from-run"
        )
    options = read_options(judge_option or ())
    asked = not (is_plan or requests)
    models = judges_by_name([judge, *([checker] if checker else [])], options=options, asked=asked)
    chosen: dict[str, Any] = {
        **writing.keywords,
        **traffic_of(settings, judge_option),
        "per": _numbers(per),
        "judge": models[0],
        "checker": models[-1],
        "prompts": prompts,
        "redact": remove,
        "cache": cache,
        "out": out,
    }
    if is_plan:
        show(page(), terminal.question_plan_page(plan_questions(documents, **chosen)))
        return
    with progress_of(remarks(), None) as progress:
        made = generate_questions(documents, **chosen, requests=requests, progress=progress)
    _show(made, requests, cache, as_json=as_json)


def check(
    file: Path,
    *,
    corpus: Path,
    judge: str,
    out: Path,
    sample: Positive | None = None,
    seed: int = 0,
    first_hit_share: Unit = 0.7,
    leave_out: str | None = None,
    judge_option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    prompts: Path | None = None,
    redact: Annotated[list[str] | None, typer.Option(metavar="PATTERN")] = None,
    cache: Path | None = None,
    requests: Path | None = None,
    as_json: AsJson = False,
    **settings: Unpack[EvaluationArgs],
) -> None:
    """Check the questions of an existing test set.

    Reads the test sets of this library, ragas, DeepEval, LlamaIndex and AutoRAG, and applies the checks that
    generated questions pass. The folder has questions.jsonl with those that passed, dropped.jsonl with the
    reasons, and the records of every check. The same command resumes an interrupted one.

    Exit codes: 0 every question passed, 1 one failed, 2 usage error.

    Args:
        file: The test set: .jsonl, .json, .csv or .parquet.
        corpus: Its documents: a folder, a file of rows, or a knowledge graph of ragas.
        judge: The judge that checks: embedded, openai:MODEL, openai:MODEL@URL, or a judge of an installed
            package.
        out: Folder of the checks.
        sample: Check only this many questions, chosen at random. Default: all.
        seed: Random seed.
        first_hit_share: Maximum share of questions that the first hit of BM25 alone answers.
        leave_out: Metrics that are not measured, separated by commas: question_quality, so that unclear
            questions pass, and closed_book_accuracy.
        judge_option: Setting of the judge: temperature, seed, max_tokens, response_format or timeout;
            NAME=none does not send it. Can be repeated.
        cache: Cache of answered calls to share between test sets. Default: the folder's own.
        requests: Write the open requests to this file instead of making calls; see `batch import`.
    """
    options = read_options(judge_option or ())
    (model,) = judges_by_name([judge], options=options, asked=requests is None)
    remove = redact_of(redact)
    documents = _documents(corpus, remove)
    with progress_of(remarks(), None) as progress:
        made = check_questions(
            file,
            documents,
            out=out,
            judge=model,
            sample=sample,
            seed=seed,
            first_hit_share=first_hit_share,
            leave_out=_names(leave_out),
            prompts=prompts,
            redact=remove,
            cache=cache,
            requests=requests,
            progress=progress,
            **traffic_of(settings, judge_option),
        )
    _show(made, requests, cache, as_json=as_json)


add_commands(questions, generate, check, audit, review, decisions, coverage, report)


def _documents(corpus: Path, redact: Redact | None) -> Corpus:
    """Read the corpus, and say which files were left out."""
    documents = read_corpus(corpus, redact=redact)
    for skipped in documents.skipped:
        remarks().print(plain(f"{skipped.where} is left out: {skipped.reason}"), soft_wrap=True)
    return documents


def _show(
    made: QuestionSet, requests: Path | None = None, cache: Path | None = None, *, as_json: bool
) -> None:
    """Print a test set, and exit with 1 if it is not complete."""
    if as_json:
        write_json(question_set_json(made))
    else:
        show(page(), terminal.question_set_page(made))
    if made.waiting:
        _tell_requests(made, requests, cache)
        return
    _tell(made)
    if not made.is_complete:
        raise typer.Exit(1)


def _tell(made: QuestionSet) -> None:
    """The number of questions, why some are missing, and the next command, on standard error."""
    summary = made.summary
    lines = [
        f"{number_of(len(made.checked), 'question')} of {summary.asked:,} in {made.path / 'questions.jsonl'}"
    ]
    if made.stopped:
        lines.append(f"Stopped: {made.stopped}. The same command resumes there.")
    elif isinstance(summary.settings, TrafficSettings):
        lines.append("Nothing was checked: review the questions, then run `ragmetrics questions check`.")
    elif isinstance(summary.settings, CheckSettings):
        if made.dropped:
            lines.append(f"The others are in {made.path / 'dropped.jsonl'}, with the reasons.")
    elif not made.is_complete:
        lines.append("Fewer than asked for: more --tries, other --kinds or more documents give more.")
    if failed := _failed(made):
        lines.append(failed)
    for line in lines:
        remarks().print(plain(line), soft_wrap=True)


def _failed(made: QuestionSet) -> str:
    """The number of failed scores of an incomplete test set, with the main reason; "" if none failed."""
    if made.is_complete or made.stopped:
        return ""
    reasons: Counter[str] = Counter(
        f"{outcome.status}, {outcome.reason}"
        for run in made.runs().values()
        for _, outcome in run.outcomes()
        if outcome.status in FAILED
    )
    if not reasons:
        return ""
    count = number_of(reasons.total(), "score")
    return f"{count} failed (mostly: {reasons.most_common(1)[0][0]}). The same command tries them again."


def _tell_requests(made: QuestionSet, requests: Path | None, cache: Path | None) -> None:
    journal = cache or made.path / "journal.sqlite"
    waiting = number_of(made.waiting, "request is", "requests are")
    remarks().print(
        Text(f"{waiting} in {requests}. Send it to the batch interface, then run:\n")
        + plain(f"  ragmetrics batch import {made.path / made.stage} REPLIES --cache {journal}", "bold")
        + Text("    and this command again"),
        soft_wrap=True,
    )


def _numbers(given: Sequence[str]) -> int | dict[str, int]:
    """The numbers of --per: one in all, or by label."""
    by_label: dict[str, int] = {}
    for text in given:
        label, equals, number = text.rpartition("=")
        if not number.strip().isdecimal() or (equals and not label.strip()):
            raise ConfigError(f"--per takes a number or LABEL=NUMBER, such as 20 or country=5, not {text!r}")
        if not equals and len(given) > 1:
            raise ConfigError("--per takes one number in all, or numbers by label: give one of the two")
        if not equals:
            return int(number)
        by_label[label.strip()] = int(number)
    return by_label


def _names(text: str | None) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _weights(text: str) -> dict[str, float]:
    """Kinds with their weights."""
    weights: dict[str, float] = {}
    for part in _names(text):
        kind, equals, weight = part.partition("=")
        try:
            weights[kind.strip()] = float(weight) if equals else 1.0
        except ValueError:
            raise ConfigError(f"--kinds takes KIND or KIND=WEIGHT, not {part!r}") from None
    return weights

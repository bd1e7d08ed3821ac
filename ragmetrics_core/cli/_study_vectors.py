"""`ragmetrics study cosine` and `retriever`: what cosines are worth, and accuracy at k."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._arguments import RunFolder
from ragmetrics_core.cli._study_output import (
    Alpha,
    AsJson,
    Format,
    OneTable,
    Out,
    Plot,
    Seed,
    emit,
    format_of,
    save_plot,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.journal import Journal, call_address, decode_vector
from ragmetrics_core.models import as_embedder
from ragmetrics_core.record import Record
from ragmetrics_core.report._plots import draw_curves, draw_histograms
from ragmetrics_core.runs import Run, read_samples
from ragmetrics_core.runs._own_loop import on_own_loop
from ragmetrics_core.sample import Sample
from ragmetrics_core.study import (
    RetrievalStudy,
    compared_texts,
    cosine_tables,
    first_hits,
    named_runs,
    retrieval_tables,
    study_cosines,
    study_retrieval,
)

__all__ = ["cosine", "retriever"]


def cosine(
    run: RunFolder,
    embedder: Annotated[
        str | None,
        typer.Option(help="Embed what the run did not keep: embedded or openai:MODEL, as in the run."),
    ] = None,
    seed: Seed = 0,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
    plot: Plot = None,
) -> None:
    """Show what a cosine is worth: beside those of shuffled pairs of the same run.

    For answer relevance, answer similarity and whatever else compares by cosine: 0.9 means little from an
    embedder whose random pairs score 0.88. Vectors come from the records, the run's journal, or --embedder.
    """
    as_format = format_of(as_format, as_json)
    opened = Run.load(run)
    compared = compared_texts(_embedded(opened))
    if not compared:
        raise ConfigError(f"no metric of {run} compares by cosine: answer_relevance and answer_similarity do")
    identity = opened.embedder or "an unknown embedder"
    vectors: dict[str, Sequence[float]] = {}
    texts: dict[str, str] = {}
    for each in compared:
        vectors.update(each.vectors)
        texts.update(each.texts)
    wanted = {digest for each in compared for pair in each.pairs for digest in pair[1:]}
    lacking = [digest for digest in sorted(wanted - vectors.keys()) if digest in texts]
    vectors.update(_journalled(opened, identity, {digest: texts[digest] for digest in lacking}))
    lacking = [digest for digest in lacking if digest not in vectors]
    if lacking and embedder is not None:
        model = as_embedder(embedder)
        if model.identity != identity:
            raise ConfigError(f"the run was measured with {identity}, and {embedder} is {model.identity}")
        rows = on_own_loop(model.aembed([texts[digest] for digest in lacking]))
        vectors.update(zip(lacking, rows.tolist(), strict=True))
    if not wanted & vectors.keys():
        raise ConfigError(
            f"the vectors of {run} are in neither its records nor its journal: name its embedder with "
            "--embedder"
        )
    found = [study_cosines(each, vectors, embedder=identity, seed=seed) for each in compared]
    is_short = as_format in (None, "terminal") and out is None and table is None
    emit(list(cosine_tables(found, most=10 if is_short else None)), as_format=as_format, out=out, table=table)
    panels = {each.metric: {"own pairs": each.values[0], "shuffled pairs": each.values[1]} for each in found}
    save_plot(
        lambda path: draw_histograms(
            {
                name: {label: values.tolist() for label, values in panel.items()}
                for name, panel in panels.items()
            },
            path,
            title=f"Cosines of {identity}",
            axis="cosine",
        ),
        plot,
    )


def retriever(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA...",
            help="A file of samples or a run for each retriever, the baseline first.",
            show_default=False,
        ),
    ],
    k: Annotated[str, typer.Option("-k", "--k", help="How many results count.")] = "1,3,5",
    by: Annotated[
        str | None, typer.Option(help="One file or run with several retrievers: the label that names them.")
    ] = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
    plot: Plot = None,
) -> None:
    """Tell the accuracy at k of retrievers, from ids, with intervals and paired tests.

    A question counts as right when one of its reference_context_ids is among the first k context_ids.
    """
    as_format = format_of(as_format, as_json)
    ks = _ks(k)
    if by is None:
        retrievers = [first_hits(name, _samples(path)) for name, path in named_runs(data).items()]
    else:
        retrievers = [first_hits(name, samples) for name, samples in _by_label(data, by).items()]
    found = study_retrieval(retrievers, ks=ks, alpha=alpha, seed=seed)
    emit(list(retrieval_tables(found)), as_format=as_format, out=out, table=table)
    save_plot(lambda path: _draw(found, path), plot)


def _embedded(run: Run) -> Iterator[Record]:
    """The records of the metrics that compare by cosine: the first one of each tells whether it does."""
    for entry in run.metrics:
        records = run.records(entry.signature)
        if (first := next(records, None)) is not None and first.embedder is not None:
            yield first
            yield from records


def _journalled(run: Run, identity: str, texts: dict[str, str]) -> dict[str, Sequence[float]]:
    """The vectors that the run's own journal has."""
    path = None if run.path is None else run.path / "journal.sqlite"
    if path is None or not path.is_file() or not texts:
        return {}
    found: dict[str, Sequence[float]] = {}
    with Journal(path) as journal:
        for digest, text in texts.items():
            body = journal.get(call_address(identity, "embed", text))
            if body is not None:
                found[digest] = decode_vector(body).tolist()
    return found


def _samples(path: Path) -> list[Sample]:
    if path.is_dir():
        run = Run.load(path)
        return list(run.samples())
    rows = list(read_samples(path))
    bad = next((row for row in rows if not isinstance(row, Sample)), None)
    if bad is not None:
        raise ConfigError(f"{path}: {bad.where}: {bad.message}")
    return [row for row in rows if isinstance(row, Sample)]


def _by_label(data: Iterable[Path], by: str) -> dict[str, list[Sample]]:
    """The samples of each retriever; what they share is the question, for ids are used once in a file."""
    found: dict[str, dict[str, Sample]] = {}
    for path in data:
        for sample in _samples(path):
            name = sample.labels.get(by)
            if name is None:
                raise ConfigError(f"sample {sample.id!r} has no label {by!r}")
            question = sample.question or sample.id
            if question in found.setdefault(str(name), {}):
                raise ConfigError(f"the retriever {name} has the question {question!r} twice")
            found[str(name)][question] = sample.model_copy(update={"id": question})
    if not found:
        raise ConfigError("there is no sample")
    return {name: list(samples.values()) for name, samples in found.items()}


def _ks(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ConfigError(f"{text!r} is no list of numbers of results: write 1,3,5")
    return tuple(sorted({int(part) for part in parts}))


def _draw(found: RetrievalStudy, path: Path) -> None:
    names = dict.fromkeys(each.retriever for each in found.accuracies)
    of_name = {name: [each for each in found.accuracies if each.retriever == name] for name in names}
    draw_curves(
        {name: [(each.k, each.share.value or 0.0) for each in rows] for name, rows in of_name.items()},
        path,
        title="Accuracy at k",
        axes=("k", "accuracy"),
        bands={
            name: [(each.k, each.share.low or 0.0, each.share.high or 0.0) for each in rows]
            for name, rows in of_name.items()
        },
    )

"""Two runs in one: parts of a data set that were measured apart, or different metrics of the same samples."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from shutil import rmtree
from typing import get_args

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.journal import Journal
from ragmetrics_core.records import Record
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._manifest import Manifest
from ragmetrics_core.runs._run import Run
from ragmetrics_core.runs._settling import Prefer, Settled, settled, settled_sample
from ragmetrics_core.samples import Sample

__all__ = ["merge"]


# Conflicts that are listed, of however many there are.
_LISTED = 10


def merge(first: str | Path, second: str | Path, *, out: str | Path, prefer: Prefer | None = None) -> Run:
    """Put two runs of the same models into a new folder; neither is changed.

    Where both have a score, the finished one counts. People's corrections and labels of both are kept. Where
    the two contradict each other, in a score, a decision, a correction or a label, nothing is merged, unless
    `prefer` says which run counts; the new run's notes say how often it did.

    Args:
        first: the folder of a run.
        second: that of another.
        out: a new folder.
        prefer: "first" or "second": the run that counts where the two contradict each other.

    Raises:
        ConfigError: the runs used different models, a sample's id stands for different contents, they
            contradict each other (the message lists where), or the folder holds something already.
        RecordError: a run cannot be read, or the new one cannot be written.
    """
    runs = Folder.open(first), Folder.open(second)
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} is not empty: a merged run needs a folder of its own")
    manifest = _manifest(runs[0].manifest, runs[1].manifest)
    if prefer not in (None, *get_args(Prefer)):
        raise ConfigError(f"prefer is 'first' or 'second', not {prefer!r}")
    conflicts = [f"{sample.id}: {conflict}" for sample, conflict in _samples(*runs) if conflict]
    conflicts += [
        f"{record.sample_id}, {record.signature}: {conflict}"
        for record, conflict in _records(*runs)
        if conflict
    ]
    if conflicts and prefer is None:
        raise ConfigError(_refusal(conflicts, *runs))
    if conflicts:
        note = (
            f"merged: {_counted(conflicts)} decided for {runs[prefer == 'second'].path}: {_listed(conflicts)}"
        )
        manifest = manifest.model_copy(update={"notes": (*manifest.notes, note)})
    merged = Folder.begin(out, manifest.model_copy(update={"finished": False}))
    try:
        _copy(*runs, merged, prefer)
        journals = [file for path in (first, second) if (file := Path(path) / "journal.sqlite").is_file()]
        if journals:
            with Journal(out / "journal.sqlite") as journal:
                for file in journals:
                    journal.absorb(file)
        altered = tuple(dict.fromkeys(name for run in runs for name in run.altered()))
        merged.update_manifest(altered=altered, finished=manifest.finished)
    except BaseException:
        merged.close()
        rmtree(out)  # it was empty or not there before, and half of two runs is no run
        raise
    merged.close()
    return Run(merged)


def _samples(one: Folder, other: Folder, prefer: Prefer | None = None) -> Iterator[Settled[Sample]]:
    """The samples of both runs, with the labels of both.

    Raises:
        ConfigError: an id stands for different contents that both have scores of.
    """
    of_other = (sample_id for sample_id in other.index.sample_ids if sample_id not in one.index.sample_ids)
    for sample_id in chain(one.index.sample_ids, of_other):
        runs = [run for run in (one, other) if sample_id in run.index.sample_ids]
        samples = [run.sample(sample_id) for run in runs]
        if len(samples) == 2 and samples[0].digest == samples[1].digest:
            yield settled_sample(samples[0], samples[1], prefer)
            continue
        # a sample without scores may have changed since, and gives way to one that has some
        scored = [sample for run, sample in zip(runs, samples, strict=True) if run.index.statuses(sample_id)]
        if len(scored) == 2:
            raise ConfigError(
                f"the sample {sample_id!r} has other content in {one.path} than in {other.path}: "
                "the two cannot be merged"
            )
        yield Settled((scored or samples)[0])


def _records(one: Folder, other: Folder, prefer: Prefer | None = None) -> Iterator[Settled[Record]]:
    """The records of both runs; where both have one of a score, the one that counts."""
    of_other = (key for key in other.index.keys if key not in one.index.keys)
    for key in chain(one.index.keys, of_other):
        records = [run.record(key) for run in (one, other) if key in run.index.keys]
        yield settled(records[0], records[1], prefer) if len(records) == 2 else Settled(records[0])


def _refusal(conflicts: Sequence[str], one: Folder, other: Folder) -> str:
    return (
        f"{one.path} and {other.path} contradict each other in {_counted(conflicts)}: {_listed(conflicts)}. "
        "Say which run counts there: --prefer first or --prefer second"
    )


def _counted(conflicts: Sequence[str]) -> str:
    return "1 place" if len(conflicts) == 1 else f"{len(conflicts)} places"


def _listed(conflicts: Sequence[str]) -> str:
    more = len(conflicts) - _LISTED
    return "; ".join(conflicts[:_LISTED]) + (f"; and {more} more" if more > 0 else "")


def _copy(one: Folder, other: Folder, merged: Folder, prefer: Prefer | None) -> None:
    for run in (one, other):
        for row in run.rejected:
            merged.reject(row)
        merged.add_prompt_texts(run.prompt_texts)
    for sample, _ in _samples(one, other, prefer):
        merged.add_sample(sample)
    for record, _ in _records(one, other, prefer):
        merged.add_records([record])


def _manifest(one: Manifest, other: Manifest) -> Manifest:
    models = {name: (getattr(one, name), getattr(other, name)) for name in ("judge", "embedder", "scorer")}
    # without a model its run had no metric that needs one: the other's will do for both
    differing = [
        f"the {name} is {names[0]} in one, {names[1]} in the other"
        for name, names in models.items()
        if all(names) and names[0] != names[1]
    ]
    if one.repeats != other.repeats:
        differing.append(f"verdicts were asked for {one.repeats} times in one, {other.repeats} in the other")
    if differing:
        raise ConfigError(f"runs of different models are not one run: {'; '.join(differing)}")
    metrics = {entry.signature: entry for entry in (*one.metrics, *other.metrics)}
    names = [*one.tally, *(name for name in other.tally if name not in one.tally)]
    return one.model_copy(
        update={
            "metrics": tuple(metrics.values()),
            **{name: names[0] or names[1] for name, names in models.items()},
            "notes": tuple(dict.fromkeys((*one.notes, *other.notes))),
            "versions": {**other.versions, **one.versions},
            "source": None if one.source != other.source else one.source,
            "started": min(one.started, other.started),
            "redacted": one.redacted or other.redacted,
            "finished": one.finished and other.finished,
            "tally": {name: one.tally.get(name, 0) + other.tally.get(name, 0) for name in names},
        }
    )

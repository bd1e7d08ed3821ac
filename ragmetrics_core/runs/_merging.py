"""Two runs in one: parts of a data set that were measured apart, or different metrics of the same samples."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from shutil import rmtree
from typing import get_args

from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.journal import Journal
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._manifest import Manifest
from ragmetrics_core.runs._run import Run
from ragmetrics_core.runs._settling import Prefer, settled, settled_sample
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
    _check_samples(*runs)
    conflicts = list(_conflicts(*runs))
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
        merged.save_manifest(manifest.model_copy(update={"altered": altered}))
    except BaseException:
        merged.close()
        rmtree(out)  # it was empty or not there before, and half of two runs is no run
        raise
    merged.close()
    return Run(merged)


def _check_samples(run: Folder, other: Folder) -> None:
    """Raise `ConfigError` when an id stands for different contents that both have scores of."""
    for sample_id in other.index.sample_ids:
        if other.index.statuses(sample_id) and sample_id in run.index.sample_ids:
            try:
                run.statuses(other.sample(sample_id))
            except SampleError:
                raise ConfigError(
                    f"the sample {sample_id!r} has other content in {run.path} than in {other.path}: "
                    "the two cannot be merged"
                ) from None


def _conflicts(one: Folder, other: Folder) -> Iterator[str]:
    """Where two runs contradict each other."""
    for sample_id in other.index.sample_ids:
        if (
            sample_id in one.index.sample_ids
            and one.sample(sample_id).digest == other.sample(sample_id).digest
        ):
            told = settled_sample(one.sample(sample_id), other.sample(sample_id)).conflict
            if told:
                yield f"{sample_id}: {told}"
    for key in other.index.keys:
        if key in one.index.keys and (told := settled(one.record(key), other.record(key)).conflict):
            yield f"{key.sample_id}, {key.signature}: {told}"


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
    for run in (one, other):
        for sample_id in run.index.sample_ids:
            if sample_id in merged.index.sample_ids:
                continue
            merged.add_sample(_sample(one, other, sample_id, prefer))
    for key in chain(one.index.keys, (key for key in other.index.keys if key not in one.index.keys)):
        found = [run.record(key) for run in (one, other) if key in run.index.keys]
        merged.add_records([settled(found[0], found[1], prefer).kept if len(found) == 2 else found[0]])


def _sample(one: Folder, other: Folder, sample_id: str, prefer: Prefer | None) -> Sample:
    """The sample of an id, with the labels of both runs."""
    found = [run for run in (one, other) if sample_id in run.index.sample_ids]
    samples = [run.sample(sample_id) for run in found]
    if len(samples) == 2 and samples[0].digest == samples[1].digest:
        return settled_sample(samples[0], samples[1], prefer).kept
    # a sample without scores may have changed since, and gives way to one that has some
    scored = [sample for run, sample in zip(found, samples, strict=True) if run.index.statuses(sample_id)]
    return (scored or samples)[0]


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

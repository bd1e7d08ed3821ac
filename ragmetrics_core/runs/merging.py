"""Two runs in one: parts of a data set that were measured apart, or different metrics of the same samples."""

from pathlib import Path
from shutil import rmtree

from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.journal import Journal
from ragmetrics_core.record import FAILED
from ragmetrics_core.runs.folder import Folder
from ragmetrics_core.runs.manifest import Manifest
from ragmetrics_core.runs.run import Run

__all__ = ["merge"]


def merge(first: str | Path, second: str | Path, *, out: str | Path) -> Run:
    """Put two runs of the same models into a new folder; neither is changed.

    Where both have a score, the finished one counts; where both or neither are finished, the first run's.

    Args:
        first: the folder of a run.
        second: that of another.
        out: a new folder.

    Raises:
        ConfigError: the runs used different models, a sample's id stands for different contents, or the
            folder holds something already.
        RecordError: a run cannot be read, or the new one cannot be written.
    """
    runs = Folder.open(first), Folder.open(second)
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} is not empty: a merged run needs a folder of its own")
    manifest = _manifest(runs[0].manifest, runs[1].manifest)
    _check_samples(*runs)
    merged = Folder.begin(out, manifest.model_copy(update={"finished": False}))
    try:
        for run in runs:
            _copy(run, merged)
        journals = [file for path in (first, second) if (file := Path(path) / "journal.sqlite").is_file()]
        if journals:
            with Journal(out / "journal.sqlite") as journal:
                for file in journals:
                    journal.absorb(file)
        merged.save_manifest(manifest)
    except BaseException:
        merged.close()
        rmtree(out)  # it was empty or not there before, and half of two runs is no run
        raise
    merged.close()
    return Run(merged)


def _check_samples(run: Folder, other: Folder) -> None:
    """Raise `ConfigError` when an id stands for different contents that both have scores of."""
    for sample_id in other.sample_ids:
        if other.statuses(sample_id) and sample_id in run.sample_ids:
            try:
                run.check_sample(other.sample(sample_id))
            except SampleError:
                raise ConfigError(
                    f"the sample {sample_id!r} has other content in {run.path} than in {other.path}: "
                    "the two cannot be merged"
                ) from None


def _copy(run: Folder, merged: Folder) -> None:
    for row in run.rejected:
        merged.reject(row)
    merged.add_prompt_texts(run.prompt_texts)
    for sample_id in run.sample_ids:
        # a sample without scores may have changed since, and gives way to one that has some
        if run.statuses(sample_id) or sample_id not in merged.sample_ids:
            merged.add_sample(run.sample(sample_id))
    for key in run.keys:
        there = merged.statuses(key.sample_id).get(key.signature)
        if there is None or there in FAILED:
            record = run.record(key)
            if there is None or record.status not in FAILED:
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

"""Two runs in one: parts of a data set that were measured apart, or different metrics of the same samples."""

from pathlib import Path

from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.journal import Journal
from ragmetrics_core.runs.evaluate import ASKED_AGAIN
from ragmetrics_core.runs.folder import Folder, Manifest
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
    runs = [Folder.open(first), Folder.open(second)]
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} is not empty: a merged run needs a folder of its own")
    merged = Folder.begin(out, _manifest(runs[0].manifest, runs[1].manifest))
    try:
        for run, path in zip(runs, (first, second), strict=True):
            _copy(run, Path(path), merged)
        journals = [file for path in (first, second) if (file := Path(path) / "journal.sqlite").is_file()]
        if journals:
            with Journal(out / "journal.sqlite") as journal:
                for file in journals:
                    journal.absorb(file)
        merged.save_manifest(merged.manifest)
    finally:
        merged.close()
    return Run(merged)


def _copy(run: Folder, path: Path, merged: Folder) -> None:
    for row in run.rejected:
        merged.reject(row)
    merged.add_prompt_texts(run.prompt_texts)
    for sample_id in run.sample_ids:
        try:
            merged.add_sample(run.sample(sample_id))
        except SampleError:
            raise ConfigError(
                f"the sample {sample_id!r} of {path} has other content in the other run: "
                "they cannot be merged"
            ) from None
    for key in run.keys:
        record = run.record(key)
        there = merged.statuses(key.sample_id).get(key.signature)
        if there is None or (there in ASKED_AGAIN and record.status not in ASKED_AGAIN):
            merged.add_records([record])


def _manifest(one: Manifest, other: Manifest) -> Manifest:
    differing = [
        f"the {name} is {getattr(one, name) or 'none'} in one, {getattr(other, name) or 'none'} in the other"
        for name in ("judge", "embedder", "scorer", "repeats")
        if getattr(one, name) != getattr(other, name)
    ]
    if differing:
        raise ConfigError(f"runs of different models are not one run: {'; '.join(differing)}")
    metrics = {entry.signature: entry for entry in (*one.metrics, *other.metrics)}
    names = [*one.tally, *(name for name in other.tally if name not in one.tally)]
    return one.model_copy(
        update={
            "metrics": tuple(metrics.values()),
            "notes": tuple(dict.fromkeys((*one.notes, *other.notes))),
            "versions": {**other.versions, **one.versions},
            "source": None if one.source != other.source else one.source,
            "started": min(one.started, other.started),
            "finished": one.finished and other.finished,
            "tally": {name: one.tally.get(name, 0) + other.tally.get(name, 0) for name in names},
        }
    )

"""Merging runs: parts of a data set, or different metrics of the same samples."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import reduce
from pathlib import Path
from shutil import rmtree
from typing import TypeVar, get_args

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.journal import Journal
from ragmetrics_core.models.identity import unlike
from ragmetrics_core.records import Record
from ragmetrics_core.runs._duplicates import Prefer, Settled, chosen_record, chosen_sample
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._manifest import Manifest
from ragmetrics_core.runs._run import Run
from ragmetrics_core.samples import Sample

__all__ = ["merge"]


N = TypeVar("N")
K = TypeVar("K", Sample, Record)

# Conflicts that are listed, of however many there are.
_LISTED = 10


def merge(*folders: str | Path, out: str | Path, prefer: Prefer | None = None) -> Run:
    """Merge runs of the same models into a new folder; the runs are not changed.

    Samples with the same id and content become one sample with all labels. If several runs have a score,
    a finished one counts. All corrections are kept. If two runs contradict each other in a score, a decision,
    a correction or a label, nothing is merged unless `prefer` chooses; the new run's notes count these cases.

    Args:
        folders: the runs' folders, at least one.
        out: a new folder.
        prefer: "first" or "second": the run that counts if two contradict each other, in the given order.

    Raises:
        ConfigError: there is no run, the runs used different models, a sample id has different contents, they
            contradict each other (the message lists where), or `out` is not empty.
        RecordError: a run cannot be read, or the new one cannot be written.
    """
    if not folders:
        raise ConfigError("give the folders of the runs to merge")
    runs = [Folder.open(folder) for folder in folders]
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} is not empty: a merged run needs a folder of its own")
    manifest = reduce(_manifest, (run.manifest for run in runs)).model_copy(update={"rotation": None})
    if prefer not in (None, *get_args(Prefer)):
        raise ConfigError(f"prefer is 'first' or 'second', not {prefer!r}")
    conflicts = [f"{sample.id}: {conflict}" for sample, conflict in _samples(runs) if conflict]
    conflicts += [f"{record.sample_id}, {record.signature}: {why}" for record, why in _records(runs) if why]
    if conflicts and prefer is None:
        *names, last = (str(run.path) for run in runs)
        raise ConfigError(
            f"{', '.join(names)} and {last} contradict each other in {_counted(conflicts)}: "
            f"{_listed(conflicts)}. Say which run counts there: --prefer first or --prefer second"
        )
    if conflicts:
        decided = runs[prefer == "second"].path if len(runs) == 2 else f"the {prefer} of two"
        note = f"merged: {_counted(conflicts)} decided for {decided}: {_listed(conflicts)}"
        manifest = manifest.model_copy(update={"notes": (*manifest.notes, note)})
    merged = Folder.begin(out, manifest.model_copy(update={"finished": False}))
    try:
        for run in runs:
            for row in run.rejected:
                merged.reject(row)
            merged.add_prompt_texts(run.prompt_texts)
        for sample, _ in _samples(runs, prefer):
            merged.add_sample(sample)
        for record, _ in _records(runs, prefer):
            merged.add_records([record])
        journals = [file for path in folders if (file := Path(path) / "journal.sqlite").is_file()]
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


def _samples(runs: Sequence[Folder], prefer: Prefer | None = None) -> Iterator[Settled[Sample]]:
    """Samples of all runs, with the labels of all runs.

    Raises:
        ConfigError: several runs have scores of different contents with the same id.
    """
    for sample_id, holders in _holders(runs, lambda run: run.index.sample_ids):
        samples = [run.sample(sample_id) for run in holders]
        # a sample without scores may have changed since, and gives way to one that has some
        pairs = zip(samples, holders, strict=True)
        scored = {sample.digest: run for sample, run in pairs if run.index.statuses(sample_id)}
        if len(scored) > 1:
            one, other, *_ = scored.values()
            raise ConfigError(
                f"the sample {sample_id!r} has other content in {one.path} than in {other.path}: "
                "the two cannot be merged"
            )
        counts = next(iter(scored), samples[0].digest)
        yield _settled([sample for sample in samples if sample.digest == counts], chosen_sample, prefer)


def _records(runs: Sequence[Folder], prefer: Prefer | None = None) -> Iterator[Settled[Record]]:
    """Records of all runs; of several records of a score, the one that counts."""
    for key, holders in _holders(runs, lambda run: run.index.keys):
        yield _settled([run.record(key) for run in holders], chosen_record, prefer)


def _holders(
    runs: Sequence[Folder], names: Callable[[Folder], Collection[N]]
) -> Iterator[tuple[N, list[Folder]]]:
    """Keys in the order of the runs, each with the runs that have it."""
    for place, run in enumerate(runs):
        for name in names(run):
            if not any(name in names(earlier) for earlier in runs[:place]):
                yield name, [run, *(later for later in runs[place + 1 :] if name in names(later))]


def _settled(
    several: Sequence[K], settle: Callable[[K, K, Prefer | None], Settled[K]], prefer: Prefer | None
) -> Settled[K]:
    """Reduce several values pairwise to the one that counts; keep the first conflict."""
    kept, conflicts = several[0], list[str]()
    for other in several[1:]:
        kept, conflict = settle(kept, other, prefer)
        conflicts += [conflict] if conflict else []
    return Settled(kept, next(iter(conflicts), ""))


def _counted(conflicts: Sequence[str]) -> str:
    return "1 place" if len(conflicts) == 1 else f"{len(conflicts)} places"


def _listed(conflicts: Sequence[str]) -> str:
    more = len(conflicts) - _LISTED
    return "; ".join(conflicts[:_LISTED]) + (f"; and {more} more" if more > 0 else "")


def _manifest(one: Manifest, other: Manifest) -> Manifest:
    models = {name: (getattr(one, name), getattr(other, name)) for name in ("judge", "embedder", "scorer")}
    # without a model its run had no metric that needs one: the other's will do for both
    differing = [
        f"the {name} of the first {why}"
        for name, names in models.items()
        if all(names) and (why := unlike(*names))
    ]
    if one.repeats != other.repeats:
        differing.append(f"verdicts were asked for {one.repeats} times in one, {other.repeats} in the other")
    if differing:
        raise ConfigError(f"runs of different models cannot be merged: {'; '.join(differing)}")
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
            "live": one.live + other.live if one.live and other.live else one.live or other.live,
        }
    )

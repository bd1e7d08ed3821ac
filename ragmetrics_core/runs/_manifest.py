"""The manifest: metrics, models and settings of a run, in `manifest.json`."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from ragmetrics_core.boundary.shapes import Json, is_dict
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.metrics import Metric
from ragmetrics_core.models.identity import unlike
from ragmetrics_core.prompts import digest_of

__all__ = [
    "FORMAT",
    "OF_THE_METRIC",
    "FileContents",
    "LiveCounts",
    "Manifest",
    "ManifestSeal",
    "MetricEntry",
    "manifest_in",
    "seal_in",
]

FORMAT = 2
"""Format of a folder. In format 1, also the default if none is stated, rejected rows have no id."""
_LARGEST_MANIFEST = 2**26
# More than a run can count, and few enough digits to be added and shown.
_LARGEST_COUNT = 10**30

# What an entry says of its metric beyond its name.
OF_THE_METRIC = ("low", "high", "exceeds", "higher_is_better")

Count = Annotated[int, Field(ge=0, le=_LARGEST_COUNT)]


class MetricEntry(BaseModel):
    """A metric of a run, with the range of its scores; with `exceeds`, scores may lie above it.

    `reads_answer` is True if unknown; see `Metric.reads_answer`. `by_reference` is not stored: whether the
    metric needs a reference, so that declining gains nothing; False if unknown.
    """

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    signature: str
    name: str
    repetition: int = Field(default=1, ge=1, le=10**9)
    low: float = 0.0
    high: float = 1.0
    exceeds: bool = False
    higher_is_better: bool = True
    reads_answer: bool = True
    by_reference: bool = Field(default=False, exclude=True)

    @classmethod
    def of(cls, metric: Metric[Any]) -> "MetricEntry":
        """The entry of a metric."""
        return cls(
            signature=metric.signature,
            name=metric.name,
            repetition=metric.repetition,
            low=metric.range.low,
            high=metric.range.high,
            exceeds=metric.exceeds,
            higher_is_better=metric.higher_is_better,
            reads_answer=metric.reads_answer,
            by_reference=not {"reference", "references"}.isdisjoint(metric.view.required()),
        )

    @property
    def worst(self) -> float:
        """The bad end of the range."""
        return self.low if self.higher_is_better else self.high

    @property
    def best(self) -> float:
        """The good end of the range."""
        return self.high if self.higher_is_better else self.low

    def goodness(self, value: float | None, bounds: tuple[float, float] | None = None) -> float | None:
        """Position of a value, or of the worse bound, between the bad end (0) and the good end (1)."""
        if value is None:
            if bounds is None:
                return None
            value = bounds[0] if self.higher_is_better else bounds[1]
        return (value - self.worst) / (self.best - self.worst)


class LiveCounts(BaseModel):
    """Counts of a live application's captures, and the shares that were sampled.

    `counts` has captured, scored and failed captures, those that were not kept on disk (`not_kept`), those
    skipped by reason (`skipped.overflow`) and results that a sink lost (`lost.RunSink`).
    """

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    sample_rates: tuple[float, ...] = ()
    counts: dict[str, Count] = Field(default_factory=dict)

    def __add__(self, other: "LiveCounts") -> "LiveCounts":
        names = dict.fromkeys((*self.counts, *other.counts))
        return LiveCounts(
            sample_rates=tuple(dict.fromkeys((*self.sample_rates, *other.sample_rates))),
            counts={name: self.counts.get(name, 0) + other.counts.get(name, 0) for name in names},
        )

    def __str__(self) -> str:
        """The counts in one line: "40 captured, 5 scored, 35 skipped (overflow), sample rate 0.1"."""
        parts = [f"{self.counts.get('captured', 0):,} captured"]
        for name, count in self.counts.items():
            kind, _, detail = name.partition(".")
            if name != "captured" and count:
                parts.append(f"{count:,} {kind.replace('_', ' ')}{f' ({detail})' if detail else ''}")
        if self.sample_rates not in ((), (1.0,)):
            parts.append(f"sample rate {' then '.join(f'{rate:g}' for rate in self.sample_rates)}")
        return ", ".join(parts)


class FileContents(BaseModel):
    """Contents of a file of a finished run: number of entries, and digest over the sorted entries."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    count: Count
    digest: str

    def __str__(self) -> str:
        """Count and digest in one line."""
        return f"{self.count:,} entries, digest {self.digest}"

    @classmethod
    def of(cls, entries: Iterable[str]) -> "FileContents":
        """Contents of a file from its sorted entries."""
        found, count = sha256(), 0
        for entry in entries:
            found.update(entry.encode("utf-8", "surrogatepass") + b"\n")
            count += 1
        return cls(count=count, digest=found.hexdigest()[:32])


class ManifestSeal(NamedTuple):
    """Stated and actual digest of a manifest."""

    stored: str
    derived: str


class Manifest(BaseModel):
    """Metrics, models, settings, notes and counts of a run."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, defer_build=True)

    schema_: int = Field(default=FORMAT, alias="schema", strict=True, ge=1)
    metrics: tuple[MetricEntry, ...]
    judge: str | None = None
    embedder: str | None = None
    scorer: str | None = None
    repeats: int = Field(default=1, ge=1, le=10**9)
    redacted: bool = False
    versions: dict[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source: str | None = None
    started: AwareDatetime = Field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))
    finished: bool = False
    tally: dict[str, Count] = Field(default_factory=dict)
    contents: dict[str, FileContents] | None = None
    altered: tuple[str, ...] = ()
    rotation: Literal["day"] | int | None = None
    live: LiveCounts | None = None

    def stored(self) -> str:
        """Content of the file: these fields and their seal."""
        fields = json.loads(self.model_dump_json(by_alias=True))
        fields.pop("seal", None)
        if self.rotation is None:  # not one of many that a live application writes
            del fields["rotation"]
        if self.live is None:  # not of a live application
            del fields["live"]
        return json.dumps({**fields, "seal": _seal(fields)}, ensure_ascii=False, indent=2) + "\n"

    def differences(self, other: "Manifest") -> list[str]:
        """Reasons why this run cannot resume another, each like "its judge is A, not B"."""
        here = {entry.signature for entry in self.metrics}
        there = {entry.signature for entry in other.metrics}
        found = [f"it does not measure {signature}" for signature in sorted(there - here)]
        found += [f"it also measures {signature}" for signature in sorted(here - there)]
        for name in ("judge", "embedder", "scorer", "repeats"):
            if why := unlike(*(str(getattr(made, name) or "none") for made in (self, other))):
                found.append(f"its {name} {why}")
        if self.redacted and not other.redacted:
            found.append("its texts are redacted, and no redact is given")
        return found

    def check_goes_on(self, path: Path, other: "Manifest", way: str = "") -> None:
        """Raise `ConfigError`, with a way out, if the run in a folder cannot be resumed as another."""
        if differences := self.differences(other):
            told = "; ".join(differences)
            raise ConfigError(f"{path} holds another run: {told}. Choose another folder{way}")


def seal_in(path: Path) -> ManifestSeal:
    """Stated and actual seal of a manifest."""
    fields = json.loads((path / "manifest.json").read_bytes())
    stored = fields.pop("seal", "")
    return ManifestSeal(str(stored), _seal(fields))


def _seal(fields: Json) -> str:
    return digest_of(json.dumps(fields, sort_keys=True))


def manifest_in(path: Path) -> Manifest:
    """Read the manifest of a run's folder.

    Raises:
        RecordError: there is no run, its format is newer, or it cannot be read.
    """
    file = path / "manifest.json"
    try:
        if not file.is_file():  # a pipe would never end
            hint = f"; ragmetrics runs {path} lists the runs in it" if path.is_dir() else ""
            raise RecordError(f"there is no run in {path} (no manifest.json){hint}")
        if file.stat().st_size > _LARGEST_MANIFEST:
            raise RecordError(f"{file} is not a manifest: it has {file.stat().st_size:,} bytes")
        fields: Json = json.loads(file.read_bytes())
        # half a character, which JSON can write and nothing can show or store
        json.dumps(fields, ensure_ascii=False).encode()
    except OSError:
        raise RecordError(f"there is no run in {path} (no manifest.json)") from None
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{file} is not JSON: {error}") from error
    schema = fields.setdefault("schema", 1) if is_dict(fields) else None
    if isinstance(schema, int) and schema > FORMAT:
        raise RecordError(
            f"the run in {path} has format {schema}; this version of ragmetrics reads up to {FORMAT}: "
            "update ragmetrics"
        )
    try:
        manifest = Manifest.model_validate(fields)
    except ValueError as error:
        raise RecordError(f"{file} is not a manifest: {str(error).splitlines()[0]}") from error
    if not 1970 <= manifest.started.year < 9999:
        raise RecordError(f"{file} is not a manifest: its run started in the year {manifest.started.year}")
    for each in manifest.metrics:
        if not (0 < each.high - each.low < inf):  # nor one of numbers that are none
            raise RecordError(
                f"{file} is not a manifest: {each.signature} has the invalid range {each.low} to {each.high}"
            )
    return manifest

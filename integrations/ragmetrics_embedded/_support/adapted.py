"""Weights trained on a user's labels: a JSON file of whole numbers by name, with the card of the training."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragmetrics_core.errors import ConfigError
from ragmetrics_embedded._support.alignment import CONFLICTS
from ragmetrics_embedded._support.features import FEATURES, VECTOR_FEATURES
from ragmetrics_embedded._support.model import VERSION, SupportModel, support_model
from ragmetrics_embedded._support.trees import Adapted, Weights, load_weights

__all__ = ["AdaptedFile", "LinearTerm", "TrainedWeights", "feature_names", "read_model"]

# Far above any weight, and low enough that any sum is a finite number.
_LARGEST = 10**12
Whole = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LinearTerm(_Part):
    """The weight of a feature.

    Attributes:
        weight: the log-odds of one unit, in units of 1/SCALE.
        low, high: the feature counts as at least and at most this, in units of 1/PLACES: the range in the
            labelled claims.
    """

    weight: Whole
    low: Whole
    high: Whole


class TrainedWeights(_Part):
    """The numbers that decide; all are whole, so that they decide the same on every machine.

    Attributes:
        base: the name of the bundled weights that they correct.
        offset: the log-odds that are added, in units of 1/SCALE.
        slope: the factor of the bundled log-odds, in units of 1/PLACES.
        linear: the weights of features, by name.
    """

    base: str
    offset: Whole
    slope: Whole
    linear: dict[str, LinearTerm]

    @property
    def digest(self) -> str:
        """Digest of the numbers."""
        return hashlib.sha256(json.dumps(self.model_dump(), sort_keys=True).encode()).hexdigest()

    @property
    def name(self) -> str:
        """Name of the weights in records."""
        return f"{self.base}+trained-{self.digest[:12]}"


class AdaptedFile(_Part):
    """A file of `ragmetrics train-judge`.

    Attributes:
        format: the format of the file.
        digest: the digest of the weights.
        weights: the weights.
        card: the data, and the figures of the cross-validation.
    """

    format: Literal["ragmetrics.embedded.1"] = "ragmetrics.embedded.1"
    digest: str
    weights: TrainedWeights
    card: Mapping[str, Any]


def feature_names(*, vectors: bool) -> tuple[str, ...]:
    """The names of a statement's features, in their order."""
    return (*FEATURES, *(VECTOR_FEATURES if vectors else ()), *CONFLICTS)


def read_model(path: Path) -> SupportModel:
    """The model with the weights of a file.

    Raises:
        ConfigError: the file cannot be read, has other content, or corrects weights that are not here.
    """
    try:
        file = AdaptedFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(
            f"the judge's weights {str(path)!r} cannot be read ({error.strerror or error}): "
            f"ragmetrics train-judge LABELS --out {path} writes such a file"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        problem = f"{where}: {first['msg']}" if where else first["msg"]
        raise ConfigError(
            f"{path} does not hold the weights of a trained judge ({problem}): "
            "make it with ragmetrics train-judge"
        ) from None
    if file.digest != file.weights.digest:
        raise ConfigError(
            f"{path} was changed after the training: the digest is not that of the weights; train the judge "
            "again"
        )
    return _model_of(file.weights, path)


def _model_of(weights: TrainedWeights, path: Path) -> SupportModel:
    bundled = support_model()
    if weights.base == VERSION != bundled.name:
        bundled = SupportModel(load_weights("plain"), name=VERSION)
    if weights.base != bundled.name:
        fix = "train the judge again"
        if weights.base == f"{VERSION}+vectors":
            fix = "install the word vectors with pip install 'ragmetrics-core[embedded]'"
        raise ConfigError(
            f"{path} corrects the weights {weights.base!r}, and here are {bundled.name!r}: {fix}"
        )
    names = feature_names(vectors=bundled.vectors is not None)
    if unknown := sorted(weights.linear.keys() - set(names)):
        raise ConfigError(
            f"{path} has a weight for {unknown[0]!r}, which is not a feature: train the judge again"
        )
    assert isinstance(bundled.weights, Weights)
    linear = {names.index(name): (term.weight, term.low, term.high) for name, term in weights.linear.items()}
    adapted = Adapted(bundled.weights, weights.offset, weights.slope, linear)
    return SupportModel(adapted, bundled.vectors, weights.name)

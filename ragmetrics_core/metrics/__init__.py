"""The metrics, one per module, and the catalogue that finds them by name."""

from ragmetrics_core.metrics._definitions import *  # every metric, and what is added to them
from ragmetrics_core.metrics.catalogue import ALIASES as ALIASES
from ragmetrics_core.metrics.catalogue import METRICS as METRICS
from ragmetrics_core.metrics.catalogue import RECOMMENDED as RECOMMENDED
from ragmetrics_core.metrics.catalogue import get as get
from ragmetrics_core.metrics.catalogue import models_needed as models_needed
from ragmetrics_core.metrics.catalogue import names_of as names_of
from ragmetrics_core.metrics.catalogue import of_part as of_part
from ragmetrics_core.metrics.catalogue import resolve as resolve
from ragmetrics_core.metrics.catalogue import signature_of as signature_of
from ragmetrics_core.metrics.metric import Metric as Metric
from ragmetrics_core.protocol import Part as Part

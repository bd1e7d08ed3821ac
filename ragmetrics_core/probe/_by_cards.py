"""Settings of metrics that suit a judge, chosen by its cards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Metric, get, resolve
from ragmetrics_core.metrics.catalogue import (
    ALIASES,
    METRICS,
    RECOMMENDED,
    models_needed,
    of_part,
    split_names,
)
from ragmetrics_core.models import as_embedder, as_judge
from ragmetrics_core.models.identity import known_as
from ragmetrics_core.probe._people_card import PEOPLE, PairedGain, PeopleCard, read_cards
from ragmetrics_core.probe._people_tables import MAIN_FIGURES
from ragmetrics_core.probe._same_judge import is_same_judge, model_of, without_server
from ragmetrics_core.protocol import Embedder
from ragmetrics_core.runs.preparation import AnyJudge, Metrics
from ragmetrics_core.texts.wording import number_of

__all__ = ["ChosenMetrics", "chosen_by_cards"]


class ChosenMetrics(NamedTuple):
    """Metrics with settings chosen by cards, and the reasons.

    Attributes:
        metrics: metrics with the chosen settings.
        remarks: a sentence for each choice, each metric left as it is, and each card that does not count.
    """

    metrics: tuple[Metric[Any], ...]
    remarks: tuple[str, ...]


class _Beside(NamedTuple):
    """A setting on one set, compared with the metric without settings."""

    card: PeopleCard
    gain: PairedGain

    @property
    def more_unscored(self) -> int:
        """Number of additional items without a score."""
        return max(self.gain.scored - self.card.n, 0)

    @property
    def is_better(self) -> bool:
        """Whether it is significantly better, and leaves no more items without a score."""
        return self.gain.gain.side > 0 and not self.more_unscored

    @property
    def value(self) -> float:
        """The gain."""
        return self.gain.gain.value or 0.0

    def words(self, judge: str) -> str:
        """As "area +0.16 (+0.04, +0.28) on turns, 68 items"."""
        card, gain = self.card, self.gain
        where = "" if card.judge == judge else f", measured as {card.judge}"
        lost = f", {self.more_unscored} more without a score" if self.more_unscored else ""
        on = f"{card.set_name}, {gain.n:,} {card.things}"
        return f"{MAIN_FIGURES[card.kind]} {gain.gain:+z.2f} on {on}{lost}{where}"


def chosen_by_cards(
    metrics: Metrics,
    *,
    judge: AnyJudge,
    cards: str | Path | Iterable[PeopleCard],
    embedder: Embedder | str | None = None,
) -> ChosenMetrics:
    """Choose the settings that suit the judge best for metrics named without settings.

    Candidates are settings of the metric's default variant in cards of this judge. A setting is chosen if it
    ranks significantly better than the metric without settings: the 95 % interval of a paired gain lies above
    0, no interval on another set lies below 0, and no fewer items have a score. The largest gain wins.
    Otherwise the metric stays as it is.

    A card counts for the same model with the same settings, at any address, if its prompts have the texts of
    this version. Metrics that are objects, or named with a variant or settings, stay as they are. Choosing on
    the samples that are then measured biases their scores upwards.

    Args:
        metrics: names and objects, as for `evaluate`; "recommended" names the recommended pair.
        judge: the judge.
        cards: a file of cards, a folder that has one, or the cards.
        embedder: embedder of metrics that need one; cards measured with another embedder do not count.

    Raises:
        ConfigError: there is no such metric, judge or file.
        RecordError: the file holds no cards.
    """
    named: list[Any] = []
    for metric in [metrics] if isinstance(metrics, str | Metric) else metrics:
        for name in split_names(metric) if isinstance(metric, str) else (metric,):
            named += RECOMMENDED if name == "recommended" else (name,)
    usual = resolve(named)
    asked = as_judge(judge, asked=False)
    of_judge = (known_as(asked), model_of(asked))
    vectors = None if embedder is None else known_as(as_embedder(embedder, asked=False))
    place = "those given"
    if isinstance(cards, str | Path):
        place, file = str(cards), Path(cards) / PEOPLE if Path(cards).is_dir() else Path(cards)
        if not file.exists():
            how = "ragmetrics probe --on FILE --out FOLDER makes one"
            raise ConfigError(f"there is no file of cards {file}: {how}")
        cards = read_cards(file)
    cards = tuple(cards)
    known = [
        card
        for card in cards
        if is_same_judge((card.judge, card.model), of_judge) and card.embedder in (None, vectors)
    ]
    if not known:
        # nobody measured the judge, or its model had other settings then
        judge_name, _, _ = without_server(*of_judge).partition("?")
        of_cards = (without_server(card.judge, card.model).partition("?") for card in cards)
        others = sorted({settings for other, _, settings in of_cards if other == judge_name and settings})
        hint = f"; that model was measured with {' and '.join(others)}" if others else ""
        remark = f"no card of {place} speaks of {of_judge[0]}{hint}: every metric stays as it is"
        return ChosenMetrics(usual, (remark,))
    remarks: list[str] = []
    chosen = list(usual)
    for number, (name, metric) in enumerate(zip(named, usual, strict=True)):
        # only what was named without variant and settings, and asks a judge
        is_bare = isinstance(name, str) and name.strip() in {*METRICS, *ALIASES}
        if is_bare and "judge" in models_needed(metric):
            measured, stale = _measured(metric, known)
            best = _best(measured)
            if best is None:
                remarks.append(f"{metric.name} stays as it is: {_why(measured, asked.identity)}")
            elif best in {other.signature for other in usual}:
                too = f"{best}, which suits the judge better, is measured too"
                remarks.append(f"{metric.name} stays as it is: {too}")
            else:
                chosen[number] = get(best)
                gains = _gains(measured[best], asked.identity)
                tried = number_of(len(measured), "other setting")
                remarks.append(f"{metric.name} is measured as {best}, which gains {gains} ({tried} measured)")
            remarks += stale
    return ChosenMetrics(resolve(chosen), tuple(remarks))


def _measured(
    usual: Metric[Any], cards: Sequence[PeopleCard]
) -> tuple[Mapping[str, Sequence[_Beside]], Sequence[str]]:
    """Settings measured together with a metric, by signature; and cards that do not count."""
    measured: dict[str, list[_Beside]] = {}
    stale: list[str] = []
    for card in cards:
        for gain in card.gains if card.metric.startswith(f"{usual.name}/{usual.variant}(") else ():
            if gain.over == usual.signature and (reason := _stale(usual, card, gain)):
                stale.append(f"the card of {card.metric} on {card.set_name} does not count: {reason}")
            elif gain.over == usual.signature:
                measured.setdefault(card.metric, []).append(_Beside(card, gain))
    return measured, stale


def _stale(usual: Metric[Any], card: PeopleCard, gain: PairedGain) -> str | None:
    """Reason why a card is not valid for the current prompts; None if it is."""
    try:
        metric = get(card.metric)
    except ConfigError as error:
        return str(error)
    if metric.signature != card.metric:
        return f"these settings are {metric.signature} today"
    for prompts, now in ((card.prompts, metric), (gain.prompts, usual)):
        digests = set(_digests(now))
        for name, digest in prompts.items():
            if digest not in digests:
                return f"{now.signature} was asked in words of {name} that this version does not ask it in"
    return None


def _digests(metric: Metric[Any]) -> Iterator[str]:
    """Digests of all texts that a metric and its parts may ask."""
    for prompt in metric.prompts_asked.values():
        yield prompt.digest
        yield from (translation.digest for translation in prompt.translations.values())
    for part in metric.parts_used:
        yield from _digests(of_part(part))


def _best(measured: Mapping[str, Sequence[_Beside]]) -> str | None:
    """The setting that gains most, of those that are better beyond doubt on a set and worse on none."""
    gains = {
        signature: max(one.value for one in sets if one.is_better)
        for signature, sets in measured.items()
        if any(one.is_better for one in sets) and not any(one.gain.gain.side < 0 for one in sets)
    }
    return max(gains, key=lambda signature: gains[signature], default=None)


def _why(measured: Mapping[str, Sequence[_Beside]], judge: str) -> str:
    """Reason why a metric stays as it is."""
    if not measured:
        return "no other setting of it was measured together with it"
    nearest = max(measured, key=lambda name: max(one.value for one in measured[name]))
    tried, gains = number_of(len(measured), "other setting"), _gains(measured[nearest], judge)
    return f"of {tried} measured none is better beyond doubt; the nearest, {nearest}, has {gains}"


def _gains(sets: Iterable[_Beside], judge: str) -> str:
    return "; ".join(one.words(judge) for one in sets)

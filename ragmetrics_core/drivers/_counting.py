"""Counts that libraries make in texts: n-grams, common words, alignments. They need the extra `text`.

The formulas over the counts are in `scoring.text`. So a record with the counts gives its score without the
library; it also holds the library's version.
"""

# nltk and rouge_score ship no types; what they return is counted and converted here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

from ragmetrics_core import scoring
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.protocol import Count

__all__ = ["Counted", "counted"]

Counts = Mapping[str, tuple[int, ...]]


def _no_synonyms(word: str) -> Sequence[Any]:
    """Synonyms need downloaded data."""
    del word
    return ()


# What METEOR's alignment asks for: stems, here the words, and synonyms, here none.
_UNSTEMMED = SimpleNamespace(stem=str)
_NO_SYNONYMS = SimpleNamespace(synsets=_no_synonyms)


class Counted(NamedTuple):
    """Counts by name, and the library with its version and settings."""

    counts: Counts
    made_by: str


def counted(request: Count) -> Counted:
    """Make the requested counts.

    Raises:
        ConfigError: the procedure is unknown, or its package is not installed.
    """
    if request.procedure not in _PROCEDURES:
        raise ConfigError(f"nothing counts {request.procedure!r}, only {', '.join(_PROCEDURES)}")
    try:
        return _PROCEDURES[request.procedure](request)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{request.procedure} needs the package {error.name}: pip install 'ragmetrics-core[text]'"
        ) from error


def _bleu(request: Count) -> Counted:
    settings = {"tokenize": "13a", "lowercase": False, **request.settings}
    metric = _sacrebleu("BLEU", effective_order=True, **settings)
    found = metric.sentence_score(request.answer, list(request.references))
    counts = {
        "matches": tuple(map(int, found.counts)),
        "ngrams": tuple(map(int, found.totals)),
        "answer_length": (int(found.sys_len),),
        "reference_length": (int(found.ref_len),),
    }
    return Counted(counts, f"sacrebleu {metric.get_signature()}")


def _chrf(request: Count) -> Counted:
    metric = _sacrebleu("CHRF", **request.settings)
    references = [[each] for each in request.references]
    # the statistics of a text are not in sacreBLEU's public results; the score is asked for its signature
    (statistics,) = metric._extract_corpus_statistics([request.answer], references)
    metric.sentence_score(request.answer, list(request.references))
    counts = {
        "answer_ngrams": tuple(map(int, statistics[0::3])),
        "reference_ngrams": tuple(map(int, statistics[1::3])),
        "matches": tuple(map(int, statistics[2::3])),
    }
    return Counted(counts, f"sacrebleu {metric.get_signature()}")


def _rouge(request: Count) -> Counted:
    settings = {"kind": "L", "words": "rouge_score", "stemmer": False, **request.settings}
    split = _rouge_words(str(settings["words"]), bool(settings["stemmer"]))
    answer = _grams(split(request.answer), str(settings["kind"]))
    references = [_grams(split(each), str(settings["kind"])) for each in request.references]
    share = scoring.common_length if settings["kind"] == "L" else scoring.shared_words
    counts = {
        "matches": tuple(share(answer, each) for each in references),
        "answer": (len(answer),),
        "reference": tuple(map(len, references)),
    }
    library = f"rouge_score {version('rouge_score')}" if settings["words"] == "rouge_score" else "words_of.2"
    stems = f"|stemmer:porter|nltk:{version('nltk')}" if settings["stemmer"] else ""
    return Counted(counts, f"{library} kind:{settings['kind']}{stems}")


def _meteor(request: Count) -> Counted:
    from nltk.translate.meteor_score import align_words

    settings = {"stemmer": True, "wordnet": False, **request.settings}
    wordnet = _wordnet() if settings["wordnet"] else _NO_SYNONYMS
    align: Callable[..., tuple[list[tuple[int, int]], Any, Any]] = align_words
    stemmer = _porter() if settings["stemmer"] else _UNSTEMMED
    answer = scoring.words_of(request.answer, language="und")
    references = [scoring.words_of(text, language="und") for text in request.references]
    aligned = [align(answer, each, stemmer=stemmer, wordnet=wordnet)[0] for each in references]
    counts = {
        "matches": tuple(map(len, aligned)),
        "chunks": tuple(map(_runs, aligned)),
        "answer": (len(answer),),
        "reference": tuple(map(len, references)),
    }
    stages = "exact, porter stem" if settings["stemmer"] else "exact"
    if settings["wordnet"]:
        stages += f", synonyms of WordNet {wordnet.get_version()}"
    return Counted(counts, f"nltk {version('nltk')} stages:{stages}")


_PROCEDURES: Mapping[str, Callable[[Count], Counted]] = {
    "bleu": _bleu,
    "chrf": _chrf,
    "rouge": _rouge,
    "meteor": _meteor,
}


@cache
def _porter() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@cache
def _wordnet() -> Any:
    """NLTK's WordNet.

    Raises:
        ConfigError: its data is not where NLTK looks.
    """
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except (LookupError, OSError):
        raise ConfigError(
            "meteor(wordnet=true) needs NLTK's data corpora/wordnet: "
            "set NLTK_DATA to the folder that holds it"
        ) from None
    return wordnet


def _sacrebleu(name: str, **settings: Any) -> Any:
    from sacrebleu import metrics

    return getattr(metrics, name)(**settings)


def _rouge_words(words: str, stemmer: bool) -> Callable[[str], list[str]]:
    if words == "rouge_score":
        from rouge_score.tokenizers import DefaultTokenizer

        split: Callable[[str], list[str]] = DefaultTokenizer(stemmer).tokenize
        return split
    if not stemmer:
        return lambda text: scoring.words_of(text, language="und")
    return lambda text: [_porter().stem(word) for word in scoring.words_of(text, language="und")]


def _grams(words: Sequence[str], kind: str) -> list[tuple[str, ...]] | list[str]:
    """The n-grams for ROUGE-n; the words themselves for ROUGE-L."""
    if kind == "L":
        return list(words)
    return list(zip(*(words[start:] for start in range(int(kind))), strict=False))


def _runs(pairs: Sequence[tuple[int, int]]) -> int:
    """Number of unbroken runs of matched words in both texts."""
    steps = [(later[0] - one[0], later[1] - one[1]) for one, later in pairwise(pairs)]
    return Counter(step == (1, 1) for step in steps)[False] + 1 if pairs else 0

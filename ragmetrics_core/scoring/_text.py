"""Formulas over shared words of two texts, and the split of a text into words."""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Literal

from ragmetrics_core.texts.comparing import UNSPACED, folded, plain_form
from ragmetrics_core.texts.language_tags import base_of

__all__ = ["bleu", "chrf", "common_length", "meteor", "shared_words", "words_of"]

_ARTICLES = frozenset({"a", "an", "the"})
_SQUAD_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_SQUAD_PUNCTUATION = str.maketrans("", "", string.punctuation)
# Marks that belong to what is said: "-5" is not "5", "3/4" not "34", "C++" not "C", ".NET" not "net".
_MEANT = re.compile(
    r"""
    (?=[^\w\s])(?:                                        # any of them: at all else nothing is tried
    (?<=\d)[^\w\s](?=\d)                                  # between digits: 3.5  1,500  3/4  10:30  2-1
    | (?<![\w.,])[-−–](?=[.,]?\d)                         # a minus
    | (?<![\w.,])[.,](?=\d)                               # .5
    | \^(?=[-−–+]?\d)                                    # 10^-3
    | [<>≤≥±](?=\s?[-−–.]?\d)                             # a limit
    | (?:(?<=\d)|(?<=\d\s))[%‰]
    | (?<=[^\W_])\++(?!\+|[^\W\d_]) | (?<=[^\W\d_])\#     # C++  A+  Na+  C#
    | (?:(?<=\b[A-Z])|(?<=\b[A-Z][A-Za-z]))[-−–](?![\w−–-])  # A-  AB-  Cl-
    | (?<=(?<!\*)\b[A-Z])\*(?![\w*])                      # A*
    | (?<![^\s("'\[])\.(?=[A-Za-z])                       # .NET
    )""",
    re.VERBOSE,
)
# All marks but the underscore are among these, letters and digits are not.
_MAY_BE_MARK = re.compile(r"[^\w\s]")
_CURRENCIES = "$¢-¥֏؋৲৳৻૱௹฿៛₠-⃀"
# An amount with its currency first; it is written number first, as "5 €" and "€5" are the same.
_AMOUNT = re.compile(rf"([-−–]?)([{_CURRENCIES}])\s?([-−–]?[.,]?\d(?:[\d.,]*\d)?)")
# These are words of their own, with a space before them or without: "50 %" and "50%" are the same.
_SIGN = re.compile(rf"[{_CURRENCIES}%‰]")
_DASHES = str.maketrans("−–", "--")
# Dots inside of an abbreviation: "U.S.", "Ph.D.", "J. R. R."
_ABBREVIATING = re.compile(r"(?<=[^\W\d_])\.(?=[^\W\d_])|(?<=\b[^\W\d_])\.\s?(?=[^\W\d_]\.)")
_UNSPACED = re.compile(f"[{UNSPACED}]")


def words_of(
    text: str, *, language: str | None = None, rules: Literal["unicode", "names", "squad"] = "unicode"
) -> list[str]:
    r"""The normalized words of a text.

    .. math:: \mathrm{words}(t) = (w_1, \ldots, w_n)

    "unicode": compatibility forms and case are folded. Punctuation and symbols of every script are removed,
    except those with a meaning: the sign, point or comma of a number, marks between two digits, C++, C#, A+,
    A-, .NET. A currency or percent sign is a separate word. An English article before another word is
    removed, unless the text is known to be in another language or the article is a capital A inside the text
    ("Vitamin A deficiency"). In scripts without spaces (Chinese, Japanese, Thai, Lao, Burmese, Khmer) each
    character is a word. "names": the same, but punctuation inside a word splits it ("Jean-Luc" is two words,
    "U.S." is one), and articles stay. "squad": exactly like the evaluation script of SQuAD.

    Range: any number of words; empty for a text without words. Never undefined.

    References:
        Rajpurkar et al. (2016), SQuAD, and its evaluation script. https://arxiv.org/abs/1606.05250
        Lewis et al. (2020), MLQA, who count characters in Chinese. https://arxiv.org/abs/1910.07475

    Examples:
        >>> words_of("The cat, aged 3.5 years!")
        ['cat', 'aged', '3.5', 'years']
        >>> words_of("C++ costs $5, -40 °C")
        ['c++', 'costs', '5', '$', '-40', 'c']
        >>> words_of("The U.S. of Jean-Luc", rules="names")
        ['the', 'us', 'of', 'jean', 'luc']
        >>> words_of("The cat, aged 3.5 years!", rules="squad")
        ['cat', 'aged', '35', 'years']
        >>> words_of("東京 Tower")
        ['東', '京', 'tower']
    """
    if rules == "squad":
        return _SQUAD_ARTICLES.sub(" ", text.lower().translate(_SQUAD_PUNCTUATION)).split()
    same = plain_form(text)
    if rules == "names":
        same = _ABBREVIATING.sub("", same)
    raw = _AMOUNT.sub(r" \1\3 \2 ", same).split()
    pieces = raw if rules == "names" or base_of(language) not in {None, "en"} else _without_articles(raw)
    plain = folded(_without_marks(" ".join(pieces), " " if rules == "names" else ""))
    pieces = plain.split()
    if not _UNSPACED.search(plain):
        return pieces
    return [word for piece in pieces for word in _characters(piece)]


def shared_words(answer: Sequence[Hashable], reference: Sequence[Hashable]) -> int:
    r"""Number of words that two texts share; repeated words count as often as both texts have them.

    .. math:: \sum_w \min(n_w(\text{answer}), n_w(\text{reference}))

    Range: from 0 to the number of words of the shorter text. Never undefined.

    References:
        Rajpurkar et al. (2016), SQuAD, section 6.1. https://arxiv.org/abs/1606.05250

    Examples:
        >>> shared_words(["a", "b", "b"], ["b", "b", "b", "c"])
        2
    """
    return (Counter(answer) & Counter(reference)).total()


def common_length(answer: Sequence[Hashable], reference: Sequence[Hashable]) -> int:
    r"""Length of the longest common subsequence: words in the same order, not necessarily adjacent.

    .. math:: \mathrm{LCS}(x, y)

    Range: from 0 to the number of words of the shorter text. Never undefined. The algorithm is bit-parallel,
    so texts of 100,000 words take seconds.

    References:
        Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 3.
        Hyyrö (2004), "Bit-parallel LCS-length computation revisited", for the algorithm.

    Examples:
        >>> common_length("the cat sat down".split(), "the dog sat up".split())
        2
    """
    places: dict[Hashable, int] = {}
    for place, word in enumerate(reference):
        places[word] = places.get(word, 0) | 1 << place
    everything = (1 << len(reference)) - 1
    row = everything
    for word in answer:
        if matches := row & places.get(word, 0):
            row = ((row + matches) | (row - matches)) & everything
    return len(reference) - row.bit_count()


def bleu(
    matches: Sequence[int], totals: Sequence[int], answer_length: int, reference_length: int
) -> float | None:
    r"""Smoothed BLEU of one text, from its n-gram counts.

    .. math:: BP \cdot \exp\Big(\frac{1}{N} \sum_{n=1}^{N} \log p_n\Big),
        \qquad BP = \min(1, e^{1 - r / c})

    with :math:`p_n` the share of the answer's n-grams that a reference has, :math:`c` the answer's length and
    :math:`r` that of the reference closest in length. :math:`N` is 4, or less if the answer is too short for
    4-grams (sacreBLEU's "effective order"). The j-th consecutive :math:`p_n` that would be 0 is :math:`1 /
    (2^j t_n)`, with :math:`t_n` n-grams (smoothing "exp").

    Range [0, 1] (sacreBLEU's, divided by 100), higher is better; 0 when no word is shared. Undefined (`None`)
    when there is no reference word.

    References:
        Papineni et al. (2002), "BLEU". https://aclanthology.org/P02-1040
        Post (2018), sacreBLEU. https://arxiv.org/abs/1804.08771

    Examples:
        >>> bleu([3, 2, 1, 0], [3, 2, 1, 0], 3, 3)
        1.0
        >>> round(bleu([2, 0, 0, 0], [4, 3, 2, 1], 4, 4), 4)
        0.19
        >>> bleu([0, 0, 0, 0], [0, 0, 0, 0], 0, 2)
        0.0
    """
    if reference_length == 0:
        return None
    if not any(matches):
        return 0.0
    logarithms: list[float] = []
    smoothing = 1.0
    for matched, total in zip(matches, totals, strict=True):
        if total == 0:
            break
        if matched == 0:
            smoothing *= 2
        logarithms.append(math.log(matched / total if matched else 1 / (smoothing * total)))
    brevity = min(1.0, math.exp(1 - reference_length / answer_length))
    return brevity * math.exp(math.fsum(logarithms) / len(logarithms))


def chrf(
    matches: Sequence[int], answer: Sequence[int], reference: Sequence[int], beta: float = 2.0
) -> float | None:
    r"""Mean precision and recall over character n-grams (and word n-grams), as an F-measure.

    .. math:: (1 + \beta^2) \frac{P R}{\beta^2 P + R}, \qquad P = \frac{1}{N} \sum_{n=1}^{N} P_n,
        \quad R = \frac{1}{N} \sum_{n=1}^{N} R_n

    over the N lengths of n-grams that both texts have, as in sacreBLEU.

    Range [0, 1] (sacreBLEU's, divided by 100), higher is better. Undefined (`None`) when the reference has no
    character; 0 when the answer has none.

    Args:
        matches: number of n-grams in both texts, by length.
        answer: number of n-grams of the answer, by length.
        reference: number of n-grams of the reference, by length.
        beta: how much more recall weighs than precision.

    References:
        Popović (2015), "chrF". https://aclanthology.org/W15-3049
        Post (2018), sacreBLEU. https://arxiv.org/abs/1804.08771

    Examples:
        >>> chrf([4, 2], [4, 4], [4, 4])
        0.75
        >>> chrf([0], [0], [0]) is None
        True
    """
    if not any(reference):
        return None
    both = [
        (matched / own, matched / wanted)
        for matched, own, wanted in zip(matches, answer, reference, strict=True)
        if own and wanted
    ]
    precision = math.fsum(each for each, _ in both) / max(len(both), 1)
    recall = math.fsum(each for _, each in both) / max(len(both), 1)
    if not precision:
        return 0.0
    return (1 + beta * beta) * precision * recall / (beta * beta * precision + recall)


def meteor(
    matched: int,
    chunks: int,
    answer_length: int,
    reference_length: int,
    *,
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
) -> float | None:
    r"""METEOR from its alignment: the matched words and their unbroken runs.

    .. math:: (1 - \gamma (c / m)^\beta) \cdot \frac{P R}{\alpha P + (1 - \alpha) R}

    with :math:`m` matched words, :math:`c` runs, :math:`P = m / \text{answer}` and
    :math:`R = m / \text{reference}`.

    Range [0, 1], higher is better; 0 when no word is matched. A text compared with itself scores below 1,
    because its single run is penalized too. Undefined (`None`) when the reference has no word.

    References:
        Banerjee and Lavie (2005), "METEOR". https://aclanthology.org/W05-0909

    Examples:
        >>> round(meteor(6, 1, 6, 6), 4)
        0.9977
        >>> meteor(0, 0, 4, 4)
        0.0
    """
    if reference_length == 0:
        return None
    if matched == 0:
        return 0.0
    precision, recall = matched / answer_length, matched / reference_length
    mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
    return (1 - gamma * math.pow(chunks / matched, beta)) * mean


def _without_articles(pieces: Sequence[str]) -> list[str]:
    """The words without articles; the last word and a capital A inside the text are kept."""
    shouted = not any(map(str.islower, pieces))
    kept: list[str] = []
    before = "."
    for place, piece in enumerate(pieces, start=1):
        bare = piece.lstrip("\"'“‘«([")
        names = place == len(pieces) or (bare == "A" and before[-1] not in ".!?:" and not shouted)
        if names or bare.casefold() not in _ARTICLES:
            kept.append(piece)
        before = piece
    return kept


def _without_marks(text: str, instead: str) -> str:
    """The text without meaningless marks; currency and percent signs become separate words."""
    kept = {place for found in _MEANT.finditer(text) for place in range(*found.span())}

    def shown(found: re.Match[str]) -> str:
        char = found[0]
        is_kept = found.start() in kept or not _is_mark(char) or unicodedata.category(char) == "Sc"
        return char if is_kept else instead

    plain = _MAY_BE_MARK.sub(shown, text).replace("_", instead)
    return _SIGN.sub(r" \g<0> ", plain).translate(_DASHES)


@cache
def _is_mark(char: str) -> bool:
    """Whether a character is punctuation, a symbol or a control character, but not a space."""
    return unicodedata.category(char)[0] in "PSC" and not char.isspace()


def _characters(piece: str) -> list[str]:
    """Split off each character of a script without spaces, with its marks; keep the rest together."""
    words: list[str] = []
    joins = False
    for char in piece:
        alone = bool(_UNSPACED.match(char))
        follows = unicodedata.category(char).startswith("M")
        if words and (follows or (joins and not alone)):
            words[-1] += char
        else:
            words.append(char)
        if not follows:
            joins = not alone
    return words

"""A search for names by some of their letters, in order: "gbl" finds "Gaussian blur"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

START, NEXT, ANY = 10, 11, 1  # what a letter is worth: where a word starts, next to the one before,
SKIPPED = 0.05  # anywhere; and what each letter passed over costs


@dataclass(frozen=True, slots=True)
class Match:
    """A name that was found.

    score   how well, the larger the better
    places  of the letters found in it, to be shown
    """

    score: float
    places: tuple[int, ...] = ()


def match(query: str, text: str) -> Match | None:
    """Return how well `query` finds `text`; None where it does not.

    Its words may come in any order.
    """
    folded = text.casefold()
    if len(folded) != len(text):  # a letter that folds into two; places must fit the text
        folded = text.lower()
    score, places = 0.0, set[int]()
    for word in query.casefold().split():
        found = _match_word(word, folded)
        if found is None:
            return None
        score += found.score
        places |= set(found.places)
    return Match(score - SKIPPED * len(text), tuple(sorted(places)))


@lru_cache(maxsize=4096)
def _match_word(word: str, text: str) -> Match | None:
    """Find the letters of `word` in `text`, in their order, in the way that scores best.

    For each letter it keeps the best way so far to every place where that letter stands, as
    (place, score, places).
    """
    left = iter(text)
    if not all(letter in left for letter in word):
        return None
    starts = _starts(text)
    ways: list[tuple[int, float, tuple[int, ...]]] = [(-1, 0.0, ())]
    for letter in word:
        longer = []
        at = text.find(letter)
        while at >= 0:
            best, found = None, 0.0
            for way in ways:
                if way[0] < at:
                    score = way[1] + _worth(way[0], at, starts)
                    if best is None or score > found:
                        best, found = way, score
            if best is not None:
                longer.append((at, found, (*best[2], at)))
            at = text.find(letter, at + 1)
        ways = longer
    _, score, places = max(ways, key=lambda way: way[1])
    return Match(score, places)


def _worth(last: int, at: int, starts: frozenset[int]) -> float:
    if last >= 0 and at == last + 1:
        return NEXT
    gap = at - last - 1 if last >= 0 else 0
    return (START if at in starts else ANY) - SKIPPED * gap


@lru_cache(maxsize=2048)
def _starts(text: str) -> frozenset[int]:
    """Return the places where words start."""
    return frozenset(at for at in range(len(text)) if at == 0 or not text[at - 1].isalnum())

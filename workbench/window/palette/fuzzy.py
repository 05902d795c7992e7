"""A search for names: by whole words first, then by starts of words, then by letters in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

# How a word of the query was found, the best last: as letters anywhere, as initials and what
# follows them ("gbl" in "Gaussian blur"), as the start of a word, as a whole word.
LETTERS, INITIALS, START, WHOLE = range(4)
AT_START, NEXT, ANY = 10, 11, 1  # what a letter is worth
SKIPPED = 0.05  # what each letter passed over costs


@dataclass(frozen=True, slots=True)
class Match:
    """A name that was found.

    score   how well, the larger the better
    places  of the letters found in it, to be shown
    kind    how its worst word was found: LETTERS, INITIALS, START or WHOLE
    """

    score: float
    places: tuple[int, ...] = ()
    kind: int = WHOLE


def match(query: str, text: str) -> Match | None:
    """Return how well `query` finds `text`; None where it does not.

    Its words may come in any order.
    """
    folded = text.casefold()
    if len(folded) != len(text):  # a letter that folds into two; places must fit the text
        folded = text.lower()
    score, kind, places = 0.0, WHOLE, set[int]()
    for word in query.casefold().split():
        found = _match_word(word, folded)
        if found is None:
            return None
        score, kind = score + found.score, min(kind, found.kind)
        places |= set(found.places)
    return Match(score - SKIPPED * len(text), tuple(sorted(places)), kind)


@lru_cache(maxsize=4096)
def _match_word(word: str, text: str) -> Match | None:
    """Find `word` in `text` in the best way there is."""
    for kind, pattern in ((WHOLE, rf"\b{re.escape(word)}\b"), (START, rf"\b{re.escape(word)}")):
        if (found := re.search(pattern, text)) is not None:
            return Match(NEXT * len(word), tuple(range(found.start(), found.end())), kind)
    return _match_letters(word, text)


def _match_letters(word: str, text: str) -> Match | None:
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
    return Match(score, places, INITIALS if _are_initials(places, starts) else LETTERS)


def _are_initials(places: tuple[int, ...], starts: frozenset[int]) -> bool:
    """Return whether each letter starts a word, or stands right behind the one before."""
    befores = (-1, *places)
    return all(
        at in starts or (before >= 0 and at == before + 1)
        for before, at in zip(befores, places, strict=False)
    )


def _worth(last: int, at: int, starts: frozenset[int]) -> float:
    if last >= 0 and at == last + 1:
        return NEXT
    gap = at - last - 1 if last >= 0 else 0
    return (AT_START if at in starts else ANY) - SKIPPED * gap


@lru_cache(maxsize=2048)
def _starts(text: str) -> frozenset[int]:
    """Return the places where words start."""
    return frozenset(at for at in range(len(text)) if at == 0 or not text[at - 1].isalnum())

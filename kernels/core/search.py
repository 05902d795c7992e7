"""Find things by the words that people type, and say so where nothing is what was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

# What a sentence needs and a search does not; and what may be the name of something, or not.
_FILL = "a an the of from this that my in on to and but with for i want please make how do can get"
_ASKED = "why what is are it does rid photo photos picture pictures image images"
FILLERS = frozenset(f"{_FILL} {_ASKED}".split())
_VERBS = (
    "remove removing reduce reducing reduction find fix improve adjust apply change convert show"
)
VERBS = FILLERS.union(f"{_VERBS} hide use filter filters effect".split())
NEAREST = 4  # of what is no answer
LIKENESS = 0.8  # of a word to one that was meant
WHOLE, INITIALS, MISSED = 1, 4, 5  # ways in which a word is found, by `_patterns`, or is not


@dataclass(frozen=True, slots=True)
class Named:
    """Something that can be found.

    words       further ones that find it
    near        phrases for what there is not, to which this comes nearest
    goes_first  before others where a whole word is its own
    """

    name: str
    words: str = ""
    near: tuple[str, ...] = ()
    goes_first: bool = False


class Found(NamedTuple):
    """Numbers of what was found, the best first; not `is_right`: they are only the nearest."""

    numbers: list[int]
    is_right: bool


def search_words(text: str) -> list[str]:
    """The words of a search, in small British letters, without punctuation and hyphens."""
    return re.findall(r"[^\s_\-.,;!?…'\"]+", _spelt(text))


def telling(every: Sequence[str], *, keeps_verbs: bool = False) -> list[str]:
    """The words but fillers, verbs and numbers, or fillers alone; all where none is left."""
    fillers = FILLERS if keeps_verbs else VERBS
    kept = (w for w in every if w not in fillers and (keeps_verbs or not w.isdigit()))
    return [*kept] or [*every]


def _spelt(text: str) -> str:
    return text.casefold().replace("color", "colour").replace("gray", "grey")


def find(query: str, items: Sequence[Named], absent: Sequence[str] = ()) -> Found:
    """Find `query` among `items`; all of them without words, none for phrases of `absent`.

    Each word but a filler is a word of the item, or the beginning of one; or, if nothing is found
    so, initials of its name and what follows them.  Where nothing is, the nearest are found: by a
    phrase of theirs, by some of the words, or by words that are spelt alike.
    """
    every = search_words(query)
    if not every:
        return Found(list(range(len(items))), is_right=True)
    for keeps_verbs in (True, False):
        wanted = telling(every, keeps_verbs=keeps_verbs)
        near = [at for at, each in enumerate(items) if _is_near(wanted, each)]
        ranked = _ranked(wanted, every, items)
        others = [at for at in ranked if at not in near]
        if ranked and (not near or any(ranked[at] == 0 for at in others)):
            return Found(list(ranked), is_right=True)
        if near:
            return Found((near + others)[:NEAREST], is_right=False)
    is_absent = _is_near(wanted, Named("", near=tuple(absent)))
    spelt = {_spelt(each) for each in absent}
    rest = [word for word in wanted if word not in spelt]
    return Found([] if is_absent else _nearest(rest, items), is_right=False)


def _is_near(wanted: Sequence[str], item: Named) -> bool:
    return any(set(search_words(phrase)) - VERBS == set(wanted) - VERBS for phrase in item.near)


def _ranked(wanted: Sequence[str], every: Sequence[str], items: Sequence[Named]) -> dict[int, int]:
    """Numbers of what has all wanted words, the best first, with the worst way of a word."""
    patterns = {word: _patterns(word) for word in every}
    found: list[tuple[tuple[bool, ...], int, int, int]] = []
    for at, each in enumerate(items):
        name, more = _spelt(each.name), _spelt(f"{each.name} {each.words}")
        texts = (name, more, name, more, name)
        ways = {
            word: next((way for way, text in enumerate(texts) if its[way].search(text)), MISSED)
            for word, its in patterns.items()
        }
        worst, words = max(ways[word] for word in wanted), search_words(name)
        if worst < MISSED:
            is_begun = " ".join(words).startswith(" ".join(every))
            goes_first = each.goes_first and (worst <= WHOLE or is_begun)
            place = (words != every, not goes_first, not is_begun)
            total = sum(way if word in wanted else way > 0 for word, way in ways.items())
            found.append((place, worst, total, at))
    if any(worst < INITIALS for _, worst, *_ in found):
        found = [each for each in found if each[1] < INITIALS]
    return {at: worst for _, worst, _, at in sorted(found)}


def beginning(word: str) -> str:
    """The pattern for where `word` begins, or where its unusual character stands."""
    return (r"\b" if word[0].isalnum() else "") + re.escape(word)


def _patterns(word: str) -> list[re.Pattern[str]]:
    """Ways to find a word: whole in the name or elsewhere, its start likewise, initials."""
    start = beginning(word)
    whole, begun = re.compile(rf"{start}\b"), re.compile(start)
    initials = r"(?:|\w*\W+)".join(re.escape(letter) for letter in word)
    return [whole, whole, begun, begun, re.compile(rf"^{initials}")]


def _nearest(wanted: Sequence[str], items: Sequence[Named]) -> list[int]:
    """Numbers of the items with the most of these words, or with words that are spelt so."""
    texts = [set(search_words(" ".join((each.name, each.words, *each.near)))) for each in items]
    known = set[str]().union(*texts) - VERBS
    like = {
        near for word in wanted for near in get_close_matches(word, known, n=1, cutoff=LIKENESS)
    }
    counts = [len(like & words) for words in texts]
    ranked = sorted(range(len(items)), key=lambda at: -counts[at])
    return [at for at in ranked if counts[at]][:NEAREST]

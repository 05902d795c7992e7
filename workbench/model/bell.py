"""The bell of a filter that takes a sigma, and how much of it the filter's size holds."""

from __future__ import annotations

from kernels import filters
from kernels.filters import gaussian, has_parameter
from workbench.base.numbers import GAP
from workbench.model.state import State, Step

Chosen = State | Step  # of a State the selected step

ENOUGH = gaussian.ENOUGH


def has_bell(state: Chosen) -> bool:
    """Return True if the filter is a weighted sum that takes a sigma."""
    chosen = filters.get(state.filter)
    return chosen.has_weights and has_parameter(chosen, "sigma")


def sigma_of(state: Chosen) -> float:
    """Standard deviation in pixels, the automatic one where none was chosen."""
    if state.sigma is not None:
        return state.sigma
    # Edges smooths with the Gaussian's rule and has none of its own.
    return (filters.get(state.filter).automatic_sigma or gaussian.automatic_sigma)(state.ksize)


def is_binomial(state: Chosen) -> bool:
    """Return True if the weights of an automatic sigma are a row of Pascal's triangle."""
    own = filters.get(state.filter).automatic_sigma
    follows_gaussian = own is None or own is gaussian.automatic_sigma
    return state.sigma is None and follows_gaussian and gaussian.is_binomial(state.ksize)


def in_words(state: Chosen) -> str:
    """Format the share of the bell inside the size; empty without a bell."""
    if not has_bell(state):
        return ""
    size = f"{state.ksize}×{state.ksize}"
    if is_binomial(state):
        row = " ".join(str(each) for each in gaussian.BINOMIAL[state.ksize])
        return f"Binomial, {row}: no sampled bell."
    held = gaussian.share_held(state.ksize, sigma_of(state))
    share = "over 99.9" if held > 0.999 else f"{100 * held:.3g}"
    if state.sigma is None or held >= ENOUGH:
        return f"{size} holds {share}{GAP}% of the bell."
    better = better_size(state)
    other = "no size" if better is None else f"{better}×{better}"
    return f"{size} holds {share}{GAP}% of the bell,\n{other} holds {100 * ENOUGH:.0f}{GAP}%."


def is_cut_off(state: Chosen) -> bool:
    """Return True if the size holds less than ENOUGH of the chosen bell."""
    return (
        state.sigma is not None
        and has_bell(state)
        and gaussian.share_held(state.ksize, state.sigma) < ENOUGH
    )


def better_size(state: Chosen) -> int | None:
    """Size that holds ENOUGH of the bell; None where the present one does, or none."""
    if state.sigma is None or not is_cut_off(state):
        return None
    return gaussian.size_holding(state.sigma)


def size_for(state: Chosen) -> int:
    """The filter's size for its sigma."""
    return gaussian.size_for(sigma_of(state), filters.get(state.filter))

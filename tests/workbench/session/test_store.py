from workbench.model.state import State
from workbench.session.store import Store


def followed(store):
    changes = []
    store.changed.connect(lambda old, new: changes.append((old, new)))
    return changes


def test_what_is_chosen_is_announced_once_with_what_it_brings_along():
    store = Store(State(filter="gaussian", ksize=5))
    changes = followed(store)
    store.choose(filter="sobel_x", implementation="parallel")
    ((_, new),) = changes
    assert (new.filter, new.ksize) == ("sobel_x", 3)
    assert new.implementation == new.chosen_implementation == "parallel"


def test_an_update_changes_what_it_names_and_nothing_else():
    store = Store(State(filter="gaussian", ksize=5))
    store.update(filter="sobel_x", implementation="parallel")
    state = store.state
    assert (state.filter, state.ksize) == ("sobel_x", 5)
    assert (state.implementation, state.chosen_implementation) == ("parallel", None)


def test_a_state_that_is_restored_is_that_very_one():
    store = Store()
    before = store.state
    store.choose(border="wrap")
    changes = followed(store)
    store.restore(before)
    store.restore(before)
    assert store.state is before
    assert len(changes) == 1

"""Concepts: teaching dimensions of the games that were played, and pairs that need no more examples
(docs/teaching.md)."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.evaluation.held_out import play_pair
from implicature.evaluation.rollouts import summarize
from implicature.experiments.beyond import concepts
from implicature.games.sampling import Game
from implicature.spaces.concepts import singletons
from implicature.training.config import Config
from implicature.training.task import make_task


def test_dimensions_are_those_of_the_target_in_its_own_class():
    # Singletons of three points and ∅ (row 3). Whole class: TD of {x1} is 1, of ∅ 3; RTD 1 each, as the last concept
    # also takes one example. With {x1} alone, ∅ takes one, and {x1} one.
    games = jax.vmap(Game)(jnp.array([[0, 1, 2, 3], [3, 2, 1, 0]]), jnp.array([0, 0]), jnp.tile(jnp.arange(4), (2, 1)))
    assert concepts.mean_dimensions(singletons(3), games) == {"td": 2.0, "rtd": 1.0, "exact": True}
    two = jax.vmap(Game)(jnp.array([[3, 0]]), jnp.array([0]), jnp.array([[0, 1]]))
    assert concepts.mean_dimensions(singletons(3), two) == {"td": 1.0, "rtd": 1.0, "exact": True}


def test_a_literal_pair_takes_the_teaching_dimension_and_a_deeper_one_less():
    config = Config.of(space="singletons-3", whole_class=True, train_games=20, rounds=3, message_cost=concepts.COST)
    task = make_task(config)
    test = concepts.test_games(task, 0)
    assert np.bincount(test.candidates[np.arange(len(test.target)), test.target]).tolist() == [concepts.REPEATS] * 4
    figures = concepts.mean_dimensions(singletons(3), test)
    literal, deeper = (summarize(play_pair(concepts.exact_pair(depth), task, test)) for depth in (0, 3))
    # {x}: one example each; ∅: three. 6/4 in the mean, and 1 with a student who expects {x} to be shown x.
    assert figures["td"] == literal["messages"] == 1.5
    assert figures["rtd"] == deeper["messages"] == 1.0
    assert literal["accuracy"] == deeper["accuracy"] == 1.0


def row(setting: str, examples: float, rtd: float = 1.5) -> dict[str, object]:
    exact = {f"examples_depth_{depth}": 2.0 for depth in concepts.DEPTHS}
    pair = {"examples": examples, "accuracy": 100.0, "valid": 100.0}
    return {"setting": setting, "td": 3.0, "rtd": rtd, "exact": "True", **exact, **pair}


def test_the_table_says_whether_a_pair_is_within_five_percent_of_the_rtd():
    # 1.05 · 1.5 = 1.575.
    (table,) = concepts.render([row("warmuth", 1.57), row("powerset-3", 1.58)])
    assert [(r.label, str(r.cells[-3]), str(r.cells[-2])) for r in table.rows] == [
        ("powerset-3", "no", "yes"),
        ("warmuth", "yes", "yes"),
    ]
    assert len(concepts.draw([row("warmuth", 1.57)]).axes[0].collections) == 5


@pytest.mark.slow
def test_a_learned_pair_teaches_singletons_by_one_example_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    small = concepts.PAIR.replace(space="singletons-3", whole_class=True, train_games=100, iterations=150, rounds=3)
    small = small.replace(phases=1, pretraining_iterations=300, width=8, layers=2)
    monkeypatch.setitem(concepts.SETTINGS, "small", small)
    (found,) = concepts.run({"setting": "small", "split": 0, "seed": 0}, 100, tmp_path)
    assert found["td"] == 1.5
    assert found["examples"] <= 1.5
    assert found["accuracy"] > 70

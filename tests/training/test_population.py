"""Agents who change partners."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int
from safetensors.numpy import load_file

from implicature.agents.contracts import Pair
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.agents.perspectives import FeatureTable
from implicature.training.config import Config
from implicature.training.optimiser import Step
from implicature.training.runs.run import open_run, start_run
from implicature.training.seeds import Setup, step_with_random_partner
from implicature.training.stages import Stage
from implicature.training.task import make_task

TINY = Config.of(
    train_games=200, candidate_sets=4, iterations=4, pretraining_iterations=4, phases=1, layers=1, width=4, q_hidden=4
)
POPULATION = TINY.replace(population=3)


def weights(folder: Path) -> dict[str, bytes]:
    return {name: leaf.tobytes() for name, leaf in load_file(folder / "phase-1.safetensors").items()}


@pytest.mark.parametrize("agent", ["teacher", "student"])
def test_a_learner_keeps_its_place_and_meets_every_partner(agent: str):
    """Agents whose depth is their number: who plays is then seen in what they hold."""
    number = 4

    def make(depth: Int[Array, ""]) -> tuple[Pair, FeatureTable]:
        model, rows = ExactModel(depth), depth.astype(jnp.float32).reshape(1, 1)
        return Pair(ExactTeacher(model), ExactStudent(model)), FeatureTable(rows, rows)

    pairs, features = eqx.filter_vmap(make)(jnp.arange(number))
    task = make_task(TINY.replace(population=number))
    setup, stage = Setup(task.config, task.rules, task.data), Stage(1, agent, 1)  # type: ignore[arg-type]

    def tell_who(stage: Stage, setup: Setup, pair: Pair, features: FeatureTable) -> Step:
        depths = (agent.model.depth.astype(jnp.float32) for agent in (pair.teacher, pair.student))  # type: ignore
        met: dict[str, Array] = dict(zip(("teacher", "student"), depths, strict=True))
        met |= {"teacher's row": features.teacher[0, 0], "student's row": features.student[0, 0]}
        return lambda key, state: (state, met)

    step = step_with_random_partner(tell_who, stage, setup, jnp.asarray(2), pairs, features)
    met = np.stack([[*step(jax.random.key(i), None)[1].values()] for i in range(40)])
    own, other = (0, 1) if agent == "teacher" else (1, 0)
    assert set(met[:, own]) == {2}
    assert set(met[:, other]) == set(range(number))
    # What each sees belongs to the one who plays.
    np.testing.assert_array_equal(met[:, :2], met[:, 2:])


@pytest.mark.slow
def test_a_population_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path):
    whole, stopped = (start_run(tmp_path / name, POPULATION) for name in ("whole", "stopped"))
    for _ in whole.train():
        pass
    for progress in stopped.train():
        if progress.stage_index == 2:
            break
    resumed = open_run(stopped.folder)
    assert not resumed.finished
    for _ in resumed.train():
        pass
    assert weights(whole.folder) == weights(stopped.folder)
    assert len(resumed.metrics.lines()) == 4 * POPULATION.optimiser.pairs
    alone = start_run(tmp_path / "alone", TINY.replace(seeds=3))
    for _ in alone.train():
        pass
    # The same pretraining, but then other partners.
    before, after = (load_file(run.folder / "phase-0.safetensors") for run in (whole, alone))
    assert all(before[name].tobytes() == after[name].tobytes() for name in before)
    assert weights(whole.folder) != weights(alone.folder)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (Config.of(population=2, method="la-2017"), "learn together"),
        (Config.of(population=2, seeds=2), "one run for each"),
    ],
)
def test_what_cannot_be_a_population_is_refused(config: Config, message: str, tmp_path: Path):
    with pytest.raises(ValueError, match=message):
        start_run(tmp_path / "run", config)


def test_a_run_has_as_many_pairs_as_its_population():
    assert Config().optimiser.pairs == 1
    assert Config.of(seeds=3).optimiser.pairs == Config.of(population=3).optimiser.pairs == 3

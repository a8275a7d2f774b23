"""Pairs who see: eyes learn before the first phase; cached ones then stay, open ones go on; labels reach none of the
ungrounded ones."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.evaluation.held_out import held_out_games, played_by
from implicature.evaluation.rollouts import summary
from implicature.training.algorithm1 import iterate, learner, looking_step, new_pair
from implicature.training.config import Config
from implicature.training.run import Run, setting_of, start_run


def config(squares: Path) -> Config:
    return Config(
        space=str(squares), candidates=3, train_games=1_000, batch=64, width=8, depth=2, phases=1, iterations=250,
        pretraining=250, learning_rate=1e-2,
    )  # fmt: skip


def trained(folder: Path, config: Config) -> Run:
    run = start_run(folder, config)
    for _ in run.train():
        pass
    return run


@pytest.fixture(scope="module")
def grounded(squares: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("runs") / "grounded", config(squares))


def test_a_grounded_pair_learns_what_words_mean_from_pictures(grounded: Run):
    games = held_out_games(grounded.setting, 300, seed=0)
    before, after = (summary(played_by(grounded.pair(phase), grounded.setting, games)) for phase in (0, 1))
    assert before["valid"] > 0.95
    assert after["accuracy"] > 0.9
    assert after["valid"] > 0.95


def test_cached_eyes_stay_as_they_were_before_the_first_phase(grounded: Run):
    before, after = grounded.pair(0), grounded.pair(1)
    assert eqx.tree_equal(before.teacher.eyes, after.teacher.eyes)
    assert eqx.tree_equal(before.student.eyes, after.student.eyes)
    assert not eqx.tree_equal(before.student.belief, after.student.belief)
    assert not eqx.tree_equal(after.teacher.eyes, after.student.eyes)


def test_open_eyes_go_on_learning_from_the_game(squares: Path, tmp_path: Path):
    short = replace(config(squares), sight="end-to-end", iterations=3, pretraining=3, batch=4)
    run = trained(tmp_path / "open", short)
    for agent in ("teacher", "student"):
        before, after = (getattr(run.pair(phase), agent).eyes for phase in (0, 1))
        assert not eqx.tree_equal(before, after)


def test_no_attribute_reaches_the_eyes_of_an_ungrounded_pair(squares: Path):
    short = replace(config(squares), grounded=False, pretraining=3)
    setting = setting_of(short)
    pair = new_pair(jax.random.key(1), short, setting.world.looks, setting.space.table.shape[1])

    def eyes_after(truth: jax.Array) -> object:
        world = eqx.tree_at(lambda world: world.truth, setting.world, truth)
        state = learner((pair.student.belief, pair.student.eyes), short, 3)
        state, info = iterate(looking_step(short, world), jax.random.key(2), state, jnp.asarray(0), 3)
        assert float(info["looking_loss"]) > 0
        return state.model[1]

    learned = eyes_after(setting.world.truth)
    assert eqx.tree_equal(learned, eyes_after(~setting.world.truth))
    assert not eqx.tree_equal(learned, pair.student.eyes)


def test_each_instance_is_shown_in_any_of_its_own_pictures(grounded: Run):
    world = grounded.setting.world
    assert world.variety == 2
    shown = world.sample(jax.random.key(3), 50, every_target=False).candidates
    again = world.sample(jax.random.key(3), 50, every_target=False).candidates
    assert (shown == again).all()
    assert set(np.unique(shown % 2)) == {0, 1}
    assert int(shown.max()) < 48


def test_symbols_are_known_where_eyes_are_not_wanted_and_missed_where_there_are_none(squares: Path):
    assert setting_of(replace(config(squares), sight="symbols")).world.looks.shape == (24, 9)
    with pytest.raises(ValueError, match="no pictures"):
        setting_of(Config(sight="cached", train_games=100))


@pytest.mark.parametrize("is_grounded", [False, True])
def test_other_labels_on_the_same_pictures_change_what_a_grounded_pair_sees_and_no_other(
    squares: Path, draw_squares, tmp_path: Path, is_grounded: bool
):
    # Instance k gets the attributes of 7 k + 1 modulo 24: of each once, and of none its own, as 6 k + 1 is odd.
    other = draw_squares(tmp_path / "mislabelled")
    head, *lines = (other / "squares.csv").read_text().splitlines()
    labels, files = zip(*(line.rsplit(",", 1) for line in lines), strict=True)
    moved = [f"{labels[(7 * (i // 2) + 1) % 24 * 2]},{file}" for i, file in enumerate(files)]
    (other / "squares.csv").write_text("\n".join([head, *moved]))

    short = replace(config(squares), grounded=is_grounded, pretraining=5, phases=0)

    def seen_of(folder: Path) -> list[np.ndarray]:
        """By both agents, once all there is before the first phase is learned, straight from the file."""
        setting = setting_of(replace(short, space=str(folder)))
        run = Run(tmp_path / f"run-{folder.name}", replace(setting, config=short))  # compiled once for both
        run.folder.mkdir()
        for _ in run.train():
            pass
        sights = run.pair(0).sights(run.setting.world.looks)
        return [np.asarray(sights.hers), np.asarray(sights.his)]

    right, wrong = seen_of(squares), seen_of(other)
    same = [np.array_equal(one, another) for one, another in zip(right, wrong, strict=True)]
    assert same == [not is_grounded] * 2

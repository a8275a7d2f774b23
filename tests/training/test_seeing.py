"""Pairs who see: eyes learn before the first phase; cached ones then stay, open ones go on; labels reach none of the
ungrounded ones."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from PIL import Image

from implicature.evaluation.play import summary
from implicature.evaluation.runs import held_out_games, played_by
from implicature.training.adaptation import iterate, learner, looking_step, new_pair
from implicature.training.config import Config
from implicature.training.run import Run, setting_of, start_run

COLOURS = {"red": (230, 30, 30), "green": (30, 200, 30), "blue": (30, 60, 230)}
PLACES = {"upper-left": (6, 6), "upper-right": (6, 42), "lower-left": (42, 6), "lower-right": (42, 42)}
SIZES = {"small": 6, "large": 14}


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 squares in two pictures each, the second a little aside: a folder as a user would make it."""
    folder = tmp_path_factory.mktemp("squares")
    lines = ["colour,size,place,picture"]
    for colour, rgb in COLOURS.items():
        for size, side in SIZES.items():
            for place, (row, column) in PLACES.items():
                for aside in (0, 2):
                    drawn = np.full((64, 64, 3), 128, np.uint8)
                    drawn[row + aside : row + aside + side, column : column + side] = rgb
                    name = f"{colour}-{size}-{place}-{aside}.png"
                    Image.fromarray(drawn).save(folder / name)
                    lines.append(f"{colour},{size},{place},{name}")
    (folder / "squares.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder


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

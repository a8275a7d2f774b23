"""Training in the appointment game: literal start, phases that help, resumed runs, the commands of appointment.md."""

import json
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.appointment.exact import literal_listener
from implicature.agents.appointment.player import Point
from implicature.evaluation.appointment import play_parts
from implicature.games.appointment import AppointmentRules
from implicature.training.appointment.algorithm1 import AppointmentTask, appointment_algorithm1, new_players
from implicature.training.appointment.baseline import baseline_figures, train_baseline
from implicature.training.appointment.partner import partner_tables
from implicature.training.appointment.run import open_appointment, start_appointment
from implicature.training.config import Config
from implicature.training.runs.run import open_run

SMALL = {"game": "appointment", "width": 4, "iterations": 20, "phases": 1}


def small_task(messages: int = 1, slots: int = 3, **values) -> AppointmentTask:
    return AppointmentTask(Config.of(**{**SMALL, **values}), AppointmentRules(slots=slots, messages=messages))


def test_a_new_player_hears_literally_and_never_lies():
    task = small_task()
    pair: Any = new_players(jax.random.key(0), task)
    player, known = pair.teacher, task.known
    prior = jnp.full(7, 1 / 7)
    heard = player.hear(known, Point(prior, prior, jnp.asarray(1)))
    # "An answer" takes a share of less than 1 % of what each calendar may do.
    np.testing.assert_allclose(heard, literal_listener(known.truth, prior), atol=0.005)
    assert (np.asarray(partner_tables(player, known, 1).first)[:, :-1][~np.asarray(known.truth)] == 0).all()


@pytest.mark.parametrize("messages", [1, 2])
def test_phases_raise_the_return_above_the_literal_start(messages: int):
    task = small_task(messages, slots=5, iterations=60, phases=2)  # with three slots a literal pair is as good
    pair: Any = new_players(jax.random.key(0), task)
    progress: list[Any] = [*appointment_algorithm1(task, jax.random.key(0), pair)]
    last = progress[-1]
    before, after = (play_parts(p.teacher, p.student, task.rules, 0)["training"] for p in (pair, last.pairs))
    assert after.episode_return > before.episode_return
    assert after.messages <= messages


def test_only_the_player_whose_half_it_is_learns():
    task = small_task(iterations=2)
    pair: Any = new_players(jax.random.key(0), task)
    first: Any = next(appointment_algorithm1(task, jax.random.key(0), pair))
    weights = [jax.tree.leaves(p.hears.layers[0].weight)[0] for p in (pair.teacher, first.pairs.teacher)]
    assert not np.array_equal(*weights)
    for old, new in zip(jax.tree.leaves(pair.student), jax.tree.leaves(first.pairs.student), strict=True):
        np.testing.assert_array_equal(old, new)


def test_the_baseline_learns_without_beliefs():
    task = small_task()
    weights = jnp.ones((1, 7))
    returns = [
        float(baseline_figures(task, train_baseline(task, jax.random.key(0), n, 0.02, 8), weights)[1][0])
        for n in (1, 200)
    ]
    assert returns[1] > returns[0]


@pytest.mark.slow
def test_a_stopped_run_ends_as_if_it_had_not_been_stopped(tmp_path):
    config = Config.of(**{**SMALL, "iterations": 4, "phases": 2})
    whole = start_appointment(tmp_path / "whole", config)
    for _ in whole.train():
        pass
    stopped = start_appointment(tmp_path / "stopped", config)
    training: Any = stopped.train()
    next(training)
    training.close()
    resumed = open_appointment(tmp_path / "stopped")
    for _ in resumed.train():
        pass
    for one, other in zip(*(jax.tree.leaves(run.players()) for run in (whole, resumed)), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="appointment game has no candidates"):
        open_run(tmp_path / "whole")


def test_settings_that_have_no_effect_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"--layers has no effect in the appointment game"):
        start_appointment(tmp_path, Config.of(game="appointment", layers=7))
    with pytest.raises(ValueError, match="trained with 1 or 2"):
        start_appointment(tmp_path, Config.of(game="appointment", rounds=3))


@pytest.mark.slow
def test_the_commands_take_the_game(tmp_path):
    def command(*arguments: str) -> str:
        code = "import sys; from implicature.cli.main import main; main()"
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run = str(tmp_path / "run")
    small = "--phases", "1", "--iterations", "3", "--width", "4"
    out = command("train", "--game", "appointment", *small, "--out", run, "--quiet")
    assert "held out" in out
    figures = json.loads(command("evaluate", run, "--json"))
    assert set(figures) == {"all", "training", "held out"}
    assert 0 < figures["all"]["success"] <= 1
    exact = json.loads(command("evaluate", "--teacher", run, "--student", "exact", "--json"))
    assert exact["all"] != figures["all"]

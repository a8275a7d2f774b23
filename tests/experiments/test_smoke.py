"""The smoke test of the experiments: small, marked, and with something of every table and figure."""

from pathlib import Path

import pytest

from implicature.experiments import smoke
from implicature.experiments.paper import pairs
from implicature.experiments.registry import EXPERIMENTS, SHARED_RESULTS, SMOKE, Folders, experiment_tasks
from implicature.games.registry import load_game
from implicature.training.checks import check_ignored

SHOWN = ("table-1", "table-2", "table-3", "figure-2", "figure-3", "figure-4", "ceilings", "cross-play")


@pytest.mark.parametrize("experiment", SHOWN)
def test_every_table_and_figure_has_smoke_tasks_and_every_one_is_marked(experiment: str):
    tasks = experiment_tasks(experiment, is_smoke=True)
    assert 0 < len(tasks) <= len(experiment_tasks(experiment, is_smoke=False))
    assert all(task[smoke.MARK] for task in tasks)
    assert not any(smoke.MARK in task for task in experiment_tasks(experiment, is_smoke=False))


def test_every_smoke_setting_is_one_that_is_trained_and_used():
    trained = {(task["setting"], task["seed"]) for task in experiment_tasks("pairs", is_smoke=True)}
    assert {setting for setting, _ in trained} == {*smoke.TWO_RUNS, *smoke.ONE_RUN}
    # Experiments that play with pairs find them there, cross-play both.
    for name in SMOKE:
        for task in experiment_tasks(name, is_smoke=True):
            seeds = {"ceilings": [], "cross-play": [1000, 1001]}.get(name, [task.get("seed")])
            assert {(task.get("setting"), seed) for seed in seeds} <= trained


def test_every_agent_and_7_candidates_are_in_it():
    agents = {setting.split(", ")[0] for setting in (*smoke.TWO_RUNS, *smoke.ONE_RUN)}
    assert agents == set(pairs.AGENTS)
    assert any("numbers-7" in setting for setting in smoke.ONE_RUN)


def test_only_marked_tasks_are_made_small():
    for config in pairs.SETTINGS.values():
        assert smoke.shrink(config, {"setting": "any"}) == config
        small = smoke.shrink(config, {"setting": "any", smoke.MARK: "yes"})
        check_ignored(small, *load_game(small.game.game))
        sizes = [
            one.phases * one.iterations * (one.candidate_sets or 256) for one in (small.optimiser, config.optimiser)
        ]
        assert sizes[0] <= sizes[1] / 10
        # The same game, method and network: only less of it.
        for name in ("game", "method", "network", "grounded", "encoder", "train_instance_fraction", "width"):
            assert small.flat()[name] == config.flat()[name]


def test_smoke_results_and_runs_have_folders_of_their_own(tmp_path: Path):
    full, small = (Folders(tmp_path / "results", tmp_path / "runs", is_smoke) for is_smoke in (False, True))
    for name in EXPERIMENTS:
        assert small.results_file(name).parent == tmp_path / "results" / "smoke"
        assert full.results_file(name).parent == tmp_path / "results"
    assert small.runs_folder() != full.runs_folder()
    assert full.results_file("table-1").stem == SHARED_RESULTS["table-1"] == "pairs"

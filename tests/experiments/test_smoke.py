"""The quick version of experiments: small, marked, and with something of every table and figure."""

import pytest

from implicature.cli.reproduce import EXPERIMENTS, QUICK, Folders, module_of, tasks_of
from implicature.experiments import pairs, quick

SHOWN = ("table-1", "table-2", "table-3", "figure-2", "figure-3", "figure-4", "ceilings", "cross-play")


@pytest.mark.parametrize("experiment", SHOWN)
def test_every_table_and_figure_has_quick_tasks_and_every_one_is_marked(experiment: str):
    tasks = tasks_of(experiment, small=True)
    assert 0 < len(tasks) <= len(tasks_of(experiment, small=False))
    assert all(task[quick.MARK] for task in tasks)
    assert not any(quick.MARK in task for task in tasks_of(experiment, small=False))


def test_every_quick_setting_is_one_that_is_trained_and_used():
    trained = {(task["setting"], task["seed"]) for task in tasks_of("pairs", small=True)}
    assert {setting for setting, _ in trained} == {*quick.TWICE, *quick.ONCE}
    # What plays with pairs finds them there, those of cross-play both.
    for name in QUICK:
        for task in tasks_of(name, small=True):
            seeds = {"ceilings": [], "cross-play": [0, 1]}.get(name, [task.get("seed")])
            assert {(task.get("setting"), seed) for seed in seeds} <= trained


def test_both_networks_and_both_baselines_and_7_candidates_are_in_it():
    agents = {setting.split(", ")[0] for setting in (*quick.TWICE, *quick.ONCE)}
    assert agents == set(pairs.AGENTS)
    assert any("numbers-7" in setting for setting in quick.ONCE)


def test_only_marked_tasks_are_made_small():
    for config in pairs.SETTINGS.values():
        assert quick.sized(config, {"setting": "any"}) == config
        small = quick.sized(config, {"setting": "any", quick.MARK: "yes"})
        assert small.phases * small.iterations * small.batch <= config.phases * config.iterations * config.batch / 10
        # The same game, method and network: only less of it.
        names = ("game", "method", "network", "grounded", "sight", "instances", "width")
        assert all(getattr(small, name) == getattr(config, name) for name in names)


def test_quick_rows_and_runs_have_folders_of_their_own(tmp_path):
    full, small = (Folders(tmp_path / "rows", tmp_path / "runs", quick) for quick in (False, True))
    for name in EXPERIMENTS:
        assert small.rows(name).parent == tmp_path / "rows" / "quick"
        assert full.rows(name).parent == tmp_path / "rows"
    assert small.trained() != full.trained()
    assert full.rows("table-1").stem == module_of("table-1").ROWS

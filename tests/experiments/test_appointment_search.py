"""The search of the appointment game's baseline, and what the experiment takes from it."""

from pathlib import Path

import pytest

from implicature.experiments.beyond import appointment, appointment_search
from implicature.experiments.results import read_results

RESULTS = Path(__file__).parents[2] / "results" / "appointment-search.csv"


def row(setting: str, episode_return: float, held_out: float) -> dict[str, object]:
    return {"setting": setting, "split": 0, "seed": 0, "return": episode_return, "held_out_return": held_out}


def test_the_table_has_a_row_for_each_rate_and_bonus():
    results = [
        row("1 messages, rate 0.005, bonus 0.02", 0.5, 0.25),
        row("2 messages, rate 0.005, bonus 0.02", 0.75, 0.5),
    ]
    (table,) = appointment_search.render(results)
    assert len(table.rows) == len(appointment_search.LEARNING_RATES) * len(appointment_search.BONUSES)
    found = {r.label: [str(cell) for cell in r.cells] for r in table.rows}
    assert found["rate 0.005, bonus 0.02"] == ["0.500 (0.250)", "0.750 (0.500)"]


def test_the_search_is_on_a_split_of_its_own():
    assert appointment_search.SPLIT not in appointment.SPLITS
    assert set(appointment.BASELINE.values()) <= set(appointment_search.SETTINGS.values())


@pytest.mark.skipif(not RESULTS.exists(), reason="implicature reproduce appointment-search was not run")
@pytest.mark.parametrize("chosen", appointment.BASELINE.values(), ids=lambda one: f"{one.messages} messages")
def test_the_baseline_has_the_best_return_of_the_search(chosen: appointment.BaselineSetting):
    own = [one for one in read_results(RESULTS) if one["setting"].startswith(f"{chosen.messages} ")]
    assert len(own) == len(appointment_search.SETTINGS) / 2
    best = max(own, key=lambda one: float(one["return"]))
    assert appointment_search.SETTINGS[best["setting"]] == chosen

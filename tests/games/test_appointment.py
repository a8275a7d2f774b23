"""The appointment game, and what its answers and messages are worth, worked out by hand for two slots.

Calendars of two slots: 0 is busy first (■□), 1 is busy second (□■), 2 is busy in both (■■).
Messages: 0 is "1", 1 is "1-2", 2 is "2".
"""

import numpy as np
import pytest

from implicature.games.appointment import (
    AppointmentRules,
    answer_name,
    calendar_name,
    calendars,
    lexicon,
    maximal_runs,
    run_name,
    runs,
    split_calendars,
)


def test_eight_slots_have_255_calendars_and_36_messages():
    assert calendars(8).shape == (255, 8)
    assert lexicon(8).shape == (255, 36)
    assert calendars(8).any(axis=1).all()
    assert len({tuple(calendar) for calendar in calendars(8).tolist()}) == 255


def test_a_run_is_true_of_the_calendars_in_which_all_its_slots_are_busy():
    assert [run_name(run) for run in runs(2)] == ["1", "1-2", "2"]
    assert [calendar_name(calendar) for calendar in calendars(2)] == ["■□", "□■", "■■"]
    assert lexicon(2).astype(int).tolist() == [[1, 0, 0], [0, 0, 1], [1, 1, 1]]


def test_maximal_runs_are_all_there_is_to_tell():
    calendar = np.array([1, 1, 0, 1, 0, 0, 1, 1], bool)
    assert maximal_runs(calendar) == [(0, 1), (3, 3), (6, 7)]
    assert maximal_runs(np.ones(3, bool)) == [(0, 2)]


@pytest.mark.parametrize(
    ("first", "second", "answer", "reward"),
    [
        (0, 0, 1, 1.0),  # the second slot is free in both
        (0, 0, 0, -2.0),  # the first is busy
        (0, 0, 2, -1.0),  # "none", but there is one
        (0, 1, 2, 1.0),  # none indeed
        (0, 1, 1, -2.0),  # free in one alone
    ],
)
def test_the_reward_of_an_answer(first: int, second: int, answer: int, reward: float):
    busy = calendars(2)
    assert AppointmentRules(slots=2).score(answer, busy[first], busy[second]) == reward


def test_70_percent_of_the_calendars_are_for_training_and_splits_differ():
    train, held_out = split_calendars(8, seed=0)
    assert len(train) == 178  # 0.7 · 255 = 178.5, to the even number
    assert sorted([*train, *held_out]) == list(range(255))
    assert set(train) != set(split_calendars(8, seed=1)[0])


def test_names_count_slots_from_one():
    assert [answer_name(0, 8), answer_name(8, 8)] == ["slot 1", "none"]


@pytest.mark.parametrize("wrong", [{"slots": 1}, {"slots": 11}, {"messages": -1}, {"message_cost": 1.0}])
def test_rules_that_make_no_game_are_refused_in_one_sentence(wrong: dict):
    with pytest.raises(ValueError, match=r"ask for|worth 1"):
        AppointmentRules(**wrong)

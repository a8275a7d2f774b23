"""Who understands whom, as tables."""

import pytest

from implicature.experiments.beyond import populations, strangers
from implicature.experiments.table import Number

FIGURES = {
    "self-play": (99.0, 98.0),
    "one population": (98.01, 97.0),
    "two populations": (97.02, 96.0),
    "population and pairs alone": (95.0, 94.0),
    "pairs alone": (90.0, 80.0),
    "self-play alone": (100.0, 99.0),
    "population and strangers": (85.0, 60.0),
    "alone and strangers": (80.0, 50.0),
}
NOVICES = {"novice of population": 12_800, "novice of alone": ""}


@pytest.mark.parametrize(
    ("teacher", "student", "expected"),
    [
        (("population", 1), ("population", 1), "self-play"),
        (("population", 1), ("population", 2), "one population"),
        (("population", 1), ("other population", 1), "two populations"),
        (("alone", 1), ("other population", 1), "population and pairs alone"),
        (("alone", 1), ("alone", 2), "pairs alone"),
        (("alone", 1), ("alone", 1), "self-play alone"),
    ],
)
def test_two_agents_know_each_other_as_they_were_trained(
    teacher: tuple[str, int], student: tuple[str, int], expected: str
):
    assert populations.relation(teacher, student) == populations.relation(student, teacher) == expected


def test_accuracy_with_strangers_is_also_in_percent_of_self_play():
    setting = {"setting": "grounded, numbers-4", "split": 10}
    rows = [{**setting, "who": who, "accuracy": a, "lowest": b} for who, (a, b) in FIGURES.items()]
    rows += [{**setting, "who": who, "accuracy": 96, "lowest": 96, "novice_games": n} for who, n in NOVICES.items()]
    who, more = populations.render(rows)
    (row,) = who.rows
    # 98.01 and 97.02 of 99, 90 of 100.
    assert [cell.value for cell in row.cells[-3:] if isinstance(cell, Number)] == pytest.approx([99.0, 98.0, 90.0])
    assert [str(cell) for cell in more.rows[0].cells] == ["85.0", "60.0", "12,800", "80.0", "50.0", "–"]


def test_no_two_runs_of_a_setting_share_a_seed():
    seeds = [start + i for start in populations.SEEDS.values() for i in range(populations.SIZE)]
    assert len(set(seeds)) == len(seeds)
    assert max(seeds) < 100


def test_a_teacher_is_also_judged_by_students_who_are_not_she():
    accuracy = {("a", "a"): 100, ("a", "b"): 60, ("b", "a"): 50, ("b", "b"): 90}
    rows = [{"game": "numbers-4", "teacher": t, "student": s, "accuracy": x} for (t, s), x in accuracy.items()]
    (table,) = strangers.render(rows)
    assert [[str(cell) for cell in row.cells] for row in table.rows] == [
        ["100.0", "60.0", "60.0"],
        ["50.0", "90.0", "50.0"],
    ]
    (axes,) = strangers.draw(rows).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]

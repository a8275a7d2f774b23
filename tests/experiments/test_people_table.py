"""Players against people as an experiment: rows become a table for each data set, the best on held-out people first."""

from pathlib import Path

import numpy as np
import pytest

from implicature.evaluation.human.published import load_published
from implicature.experiments.beyond import people, recovery
from implicature.training.runs.space_file import task_space


def test_a_task_gives_a_row_for_each_data_set_and_tables_are_ordered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    small = {"qing-franke-2015": people.PUBLISHED["qing-franke-2015"]}
    monkeypatch.setattr(people, "PUBLISHED", small)
    rows = [
        row
        for name in ("literal", "exact:depth=1,utility=belief", people.MIXTURES[0])
        for row in people.run({"setting": name, "split": 0, "seed": 0}, 1, tmp_path)
    ]
    # One decision a person: no mixture.
    assert [row["model"] for row in rows] == ["literal", "exact:depth=1,utility=belief"]
    (table,) = people.render([{name: str(value) for name, value in row.items()} for row in rows])
    assert table.title == "qing-franke-2015-listeners: 180 people, 180 decisions, 3 cells"
    assert [row.label for row in table.rows] == ["exact:depth=1,utility=belief", "literal", "saturated", "chance"]
    assert str(table.rows[1].cells[3]) == "-0.693"  # log 1/2
    assert str(table.rows[3].cells[2]) == "-1.099"  # log 1/3


def test_every_task_has_a_key_and_learned_pairs_have_three_seeds():
    tasks = people.tasks()
    assert len({tuple(task[name] for name in people.KEY) for task in tasks}) == len(tasks)
    assert sum(task["setting"] in people.LEARNED for task in tasks) == 3 * len(people.LEARNED)


def test_the_space_for_training_has_twins_and_enough_words_for_every_item():
    space, candidates = task_space(people.pair_config(2.0))
    # 1 + 6 + 15 + 20 sets of up to three of six words, seven of each, three of them equal.
    assert (space.instances, candidates, space.attributes[-1]) == (42 * 7, 3, "salience")
    objects, words = space.features[:, :-1], space.lexicon.meaning
    assert len(np.unique(space.features, axis=0)) == 42 * 5
    # What has none of the six words has a word of its own, and so the others are not expected of it.
    assert space.words == (*space.attributes[:-1], "nothing")
    assert (words == np.column_stack([objects, objects.sum(axis=1) == 0])).all()
    assert space.prior is not None
    np.testing.assert_allclose(np.log2(space.prior), space.features[:, -1], atol=1e-6)
    number = [
        len(item.words) for name in people.PUBLISHED for part in load_published(name).parts for item in part.items
    ]
    assert max(number) <= 6


def row_of(data: str, model: str, held_out: float, **more: object) -> dict[str, str]:
    figures = dict.fromkeys(people.FIGURES, 0.5) | {"people": 9, "decisions": 9, "cells": 3, "parameters": 1}
    row = {"setting": model, "data": data, "model": model, **figures, "held_out": held_out, **more}
    return {name: str(value) for name, value in row.items()}


def test_pairs_stand_beside_the_best_exact_model_of_each_data_set():
    rows = [
        row_of("one-listeners", "literal", -0.9),
        row_of("one-listeners", "exact:depth=1,utility=log", -0.8),
        row_of("one-listeners", people.GIVEN[0], -0.7),  # its β is not fitted: no model to compare with
        row_of("one-listeners", "learned at β=2, phase 1", -0.84, seed=0),
        row_of("one-listeners", "learned at β=2, phase 1", -0.80, seed=1),
        row_of("two-listeners", "literal", -0.5),
        row_of("two-listeners", people.MIXTURES[0], -0.4),
        row_of("two-listeners", "learned at β=2, phase 1", -0.45),
    ]
    summary, one, _ = people.render(rows)
    assert list(summary.columns) == ["one listeners", "two listeners", "two listeners, mixture"]
    assert [(row.label, *map(str, row.cells)) for row in summary.rows] == [
        ("best exact model", "-0.800", "-0.500", "-0.400"),
        (people.GIVEN[0], "+0.100", "–", "–"),
        ("learned at β=2, phase 1", "-0.020", "+0.050", "-0.050"),
    ]
    assert [row.label for row in one.rows][-2:] == ["saturated", "chance"]


def test_the_tables_show_the_best_models_the_best_pair_and_the_literal_player():
    names = [f"model {i}" for i in range(9)]
    rows = [row_of("one-listeners", name, -0.1 * (i + 1)) for i, name in enumerate([*names, "learned x", "literal"])]
    (table,) = people.render([*rows, row_of("one-listeners", "learned y", -5)])
    shown = [row.label for row in table.rows]
    assert shown == [*names[: people.TOP], "learned x", "literal", "saturated", "chance"]


def test_recovery_is_shown_in_percent():
    row = {
        "game": "numbers-7",
        "role": "student",
        "kind": "literal",
        "trials": "60",
        "recovered": "0.96",
        "inside": "1.0",
    }
    row |= {f"called {kind}": "0.5" for kind in recovery.KINDS}
    (table,) = recovery.render([row])
    assert table.rows[0].label == "numbers-7, student, 60 decisions: literal"
    assert list(table.rows[0].cells[:3]) == ["96 %", "100 %", "50 %"]

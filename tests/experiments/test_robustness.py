"""Clean and varied pictures, on a small scale, and how varied ones come about."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from implicature.experiments import pairs, robustness
from implicature.spaces import objects
from implicature.spaces.images import object_pictures
from implicature.spaces.io import load_space
from implicature.spaces.rendering.dataset import TABLE, varied_objects, write
from implicature.spaces.rendering.renderer import draw_objects

USUAL, DRAWN = robustness.SETTINGS, (robustness.TO_LEARN, robustness.TO_TEST)
SMALL = {"train_games": 2000, "pretraining": 60, "phases": 0, "batch": 32, "width": 4, "depth": 1}


def shaded(darker: int, copies: int) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """The shipped pictures, darker from copy to copy."""
    space = objects()
    for i, picture in enumerate(object_pictures()):
        for copy in range(copies):
            yield tuple(space.names(i)), picture - np.minimum(picture, np.uint8(darker + 20 * copy))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of runs with pictures in it, so that none has to be drawn."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(robustness, "TO_LEARN", (2, 1))
        patch.setattr(robustness, "TO_TEST", (1, 2))
        for darker, (copies, seed) in ((5, (2, 1)), (50, (1, 2))):
            out = folder / f"pictures-jittered-{copies}-seed-{seed}"
            write(out, out / "sheet.png", copies, shaded(darker, copies))
        small = {name: replace(config, **SMALL) for name, config in robustness.SETTINGS.items()}
        patch.setattr(robustness, "SETTINGS", small)
        yield folder


def test_both_pairs_play_the_same_games_in_clean_and_in_varied_pictures(runs: Path):
    name = "exchange, grounded, objects-4"
    tasks = [task for task in robustness.tasks() if task["setting"].startswith(name) and task["seed"] == 0]
    rows = [row for task in tasks for row in robustness.run(task, 300, runs)]
    assert [(row["learned"], row["tested"]) for row in rows] == [
        ("clean", "clean"), ("clean", "jittered"), ("jittered", "clean"), ("jittered", "jittered"),
    ]  # fmt: skip
    # Words with a little meaning already: better than one in four; and the dark looks different.
    assert rows[0]["accuracy"] > 30
    assert rows[0]["accuracy"] != rows[1]["accuracy"]
    assert "| exchange, grounded, objects-4 | jittered | clean | 1 |" in robustness.render(rows)
    looks = pairs.open_run(next(runs.glob("*jittered-0-0"))).setting.world.looks
    assert looks.shape == (576, 128, 128, 3)


@pytest.mark.usefixtures("can_draw")
def test_no_picture_of_the_test_is_among_those_of_training():
    learned, tested = (
        {picture.tobytes() for _, picture in islice(draw_objects(per_object=number, jitter=True, seed=seed), number)}
        for number, seed in DRAWN
    )
    assert (len(learned), len(tested)) == (DRAWN[0][0], DRAWN[1][0])
    assert not learned & tested


def test_pairs_of_clean_pictures_are_those_of_the_tables_and_others_differ_in_what_they_see():
    assert len(robustness.tasks()) == 8 * pairs.SPLITS * pairs.RUNS
    for name in robustness.CLEAN:
        assert USUAL[name] == pairs.SETTINGS[name]
        varied = USUAL[f"{name}, jittered"]
        assert replace(varied, pretraining=USUAL[name].pretraining) == USUAL[name]


@pytest.mark.usefixtures("can_draw")
def test_varied_pictures_are_drawn_once(tmp_path: Path):
    folder = varied_objects(tmp_path / "new" / "varied", 1, 3)
    kept = (folder / TABLE).stat().st_mtime_ns
    space = load_space(folder)
    assert space.pictures is not None
    assert space.pictures.shape == (288, 1, 128, 128, 3)
    # As the command draws them, and not the clean ones.
    assert not np.array_equal(space.pictures[:, 0], object_pictures())
    assert varied_objects(folder, 1, 3) == folder
    assert (folder / TABLE).stat().st_mtime_ns == kept
    assert [path.name for path in folder.parent.iterdir()] == ["varied"]


def test_without_mujoco_a_sentence_says_what_to_install_and_nothing_is_left_behind(tmp_path: Path):
    script = (
        "import sys; sys.modules['mujoco'] = None\n"
        "from pathlib import Path; from implicature.experiments.robustness import run, tasks\n"
        f"run(tasks()[0], 300, Path({str(tmp_path)!r}))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[-1] == ("ValueError: Drawing needs MuJoCo: pip install 'implicature[objects]'.")
    assert list(tmp_path.iterdir()) == []

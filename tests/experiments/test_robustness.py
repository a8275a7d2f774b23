"""Clean and jittered images, on a small scale, and how jittered ones are rendered."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from implicature.experiments.choices import robustness
from implicature.experiments.paper import pairs
from implicature.spaces import objects
from implicature.spaces.images import object_images
from implicature.spaces.io import read_space
from implicature.spaces.rendering.dataset import TABLE, jittered_objects, write_dataset
from implicature.spaces.rendering.renderer import render_objects
from implicature.training.runs.run import open_run

SETTINGS, IMAGES = robustness.SETTINGS, (robustness.TRAIN_IMAGES, robustness.TEST_IMAGES)
SMALL = {
    "train_games": 2000, "pretraining_iterations": 60, "phases": 0, "candidate_sets": 32, "width": 4, "layers": 1,
    "q_hidden": 8,
}  # fmt: skip


def shaded(darker: int, copies: int) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """The shipped images, darker from copy to copy."""
    space = objects()
    for i, image in enumerate(object_images()):
        for copy in range(copies):
            yield tuple(space.names(i)), image - np.minimum(image, np.uint8(darker + 20 * copy))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of runs with images in it, so that none has to be rendered."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(robustness, "TRAIN_IMAGES", (2, 1))
        patch.setattr(robustness, "TEST_IMAGES", (1, 2))
        for darker, (copies, seed) in ((5, (2, 1)), (50, (1, 2))):
            out = folder / f"images-jittered-{copies}-seed-{seed}"
            write_dataset(out, out / "sheet.png", copies, shaded(darker, copies))
        small = {name: config.replace(**SMALL) for name, config in robustness.SETTINGS.items()}
        patch.setattr(robustness, "SETTINGS", small)
        yield folder


@pytest.mark.slow
def test_both_pairs_play_the_same_games_with_clean_and_with_jittered_images(runs: Path):
    name = "exchange, grounded, objects-4"
    tasks = [task for task in robustness.tasks() if task["setting"].startswith(name) and task["seed"] == 1000]
    results = [one for task in tasks for one in robustness.run(task, 300, runs)]
    assert [(one["train_images"], one["test_images"]) for one in results] == [
        ("clean", "clean"), ("clean", "jittered"), ("jittered", "clean"), ("jittered", "jittered"),
    ]  # fmt: skip
    # Words with a little meaning already: better than one in four; and darker images look different.
    assert results[0]["accuracy"] > 30
    assert results[0]["accuracy"] != results[1]["accuracy"]
    (table,) = robustness.render(results)
    assert "| exchange, grounded, objects-4 | jittered | clean | 1 |" in table.to_markdown()
    observations = open_run(next(runs.glob("*jittered-10-1000"))).task.data.observations
    assert observations.shape == (576, 128, 128, 3)


@pytest.mark.usefixtures("can_draw")
def test_no_test_image_is_among_those_of_training():
    train, test = (
        {image.tobytes() for _, image in islice(render_objects(per_object=number, jitter=True, seed=seed), number)}
        for number, seed in IMAGES
    )
    assert (len(train), len(test)) == (IMAGES[0][0], IMAGES[1][0])
    assert not train & test


def test_pairs_of_clean_images_are_those_of_the_tables_and_others_differ_in_their_images():
    assert len(robustness.tasks()) == 8 * len(pairs.SPLITS) * pairs.RUNS
    for name in robustness.CLEAN:
        assert SETTINGS[name] == pairs.SETTINGS[name]
        iterations = SETTINGS[name].grounding.pretraining_iterations
        jittered = SETTINGS[f"{name}, jittered"]
        assert jittered.replace(pretraining_iterations=iterations) == SETTINGS[name]


@pytest.mark.slow
@pytest.mark.usefixtures("can_draw")
def test_jittered_images_are_rendered_once(tmp_path: Path):
    folder = jittered_objects(tmp_path / "new" / "jittered", 1, 3)
    kept = (folder / TABLE).stat().st_mtime_ns
    space = read_space(folder)
    assert space.images is not None
    assert space.images.shape == (288, 1, 128, 128, 3)
    # As the command renders them, and not the clean ones.
    assert not np.array_equal(space.images[:, 0], object_images())
    assert jittered_objects(folder, 1, 3) == folder
    assert (folder / TABLE).stat().st_mtime_ns == kept
    assert [path.name for path in folder.parent.iterdir()] == ["jittered"]


def test_without_mujoco_a_sentence_says_what_to_install_and_nothing_is_left_behind(tmp_path: Path):
    script = (
        "import sys; sys.modules['mujoco'] = None\n"
        "from pathlib import Path; from implicature.experiments.choices.robustness import run, tasks\n"
        f"run(tasks()[0], 300, Path({str(tmp_path)!r}))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[-1] == ("ValueError: Rendering needs MuJoCo: pip install 'implicature[objects]'.")
    assert list(tmp_path.iterdir()) == []

"""Robustness to images that vary in pose, light, camera and colour: pairs trained on clean images and pairs trained on
jittered ones, each tested on both. The jittered test images show the same objects but were not used in training.

Jittered images are rendered by MuJoCo once, into the folder of runs (F-25), and reused. Pairs trained on clean images
are those of `pairs`.
"""

from dataclasses import replace
from pathlib import Path

from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize
from implicature.experiments.paper.pairs import FIGURES, OBJECTS, repeat
from implicature.experiments.paper.pairs import KEY as RUN_KEY
from implicature.experiments.paper.pairs import SETTINGS as PAIRS
from implicature.experiments.results import Result, TaskSpec, mean_and_std, percent
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Row, Table
from implicature.games.registry import load_images
from implicature.spaces.rendering.dataset import jittered_objects
from implicature.training.config import Config

CLEAN = tuple(f"exchange, {start}, {game}" for game in OBJECTS for start in ("ungrounded", "grounded"))
JITTERED = {f"{name}, jittered": PAIRS[name].replace(pretraining_iterations=2_000) for name in CLEAN}
"""Eight times as many images take longer to pretrain on."""
SETTINGS: dict[str, Config] = {**{name: PAIRS[name] for name in CLEAN}, **JITTERED}
TRAIN_IMAGES, TEST_IMAGES = (8, 1), (4, 2)
"""Images of each object and the seed they are rendered with: another seed, other images."""
KINDS = ("clean", "jittered")
KEY = RUN_KEY


def tasks() -> list[TaskSpec]:
    return repeat(list(SETTINGS))


def jittered_images(runs: Path, per_object: int, seed: int) -> str:
    return str(jittered_objects(runs / f"images-jittered-{per_object}-seed-{seed}", per_object, seed))


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """The same test games with clean and with jittered images."""
    config = SETTINGS[task["setting"]]
    test_images = {"clean": "objects", "jittered": jittered_images(runs, *TEST_IMAGES)}
    train_images = "jittered" if task["setting"] in JITTERED else "clean"
    if train_images == "jittered":
        config = config.replace(images=jittered_images(runs, *TRAIN_IMAGES))
    trained = train_or_load(config, task, runs)
    test = held_out_games(trained.task, games, seed=0)
    results = []
    for kind in KINDS:
        shown = replace(trained.task, space=load_images(trained.task.space, test_images[kind]))
        figures = percent(summarize(play_pair(trained.pair(), shown, test)), FIGURES)
        images = {"train_images": train_images, "test_images": kind}
        results.append({**task, **images, **figures, **provenance(games, trained)})
    return results


def render(results: list[Result]) -> list[Table]:
    rows = []
    for setting in SETTINGS:
        for kind in KINDS:
            if own := [one for one in results if (one["setting"], one["test_images"]) == (setting, kind)]:
                figures = [mean_and_std(own, name) for name in FIGURES]
                cells = [own[0]["train_images"], kind, len(own), *figures]
                rows.append(Row(setting.removesuffix(", jittered"), cells))
    return [Table("setting", ["training images", "test images", "runs", "accuracy", "hard", "valid"], rows)]

"""What pairs make of pictures that vary in pose, light, camera and colour: pairs who have learned from the clean ones,
and pairs who have learned from varied ones, each tested on both. The varied pictures of the test are of the same
objects, but no training has seen them.

Varied pictures are drawn by MuJoCo, once, into the folder of runs (F-25); where they are there, nothing is drawn. The
pairs who learn from clean pictures are those of `pairs`.
"""

from dataclasses import replace
from pathlib import Path

from implicature.evaluation.held_out import held_out_games, played_by
from implicature.evaluation.rollouts import summary
from implicature.experiments.pairs import KEY as RUN
from implicature.experiments.pairs import OBJECTS, made, repeated, trained
from implicature.experiments.pairs import SETTINGS as LEARNED
from implicature.experiments.results import Row, mean_and_std
from implicature.spaces.rendering.dataset import varied_objects
from implicature.training.config import Config
from implicature.training.run import in_pictures_of

CLEAN = tuple(f"exchange, {start}, {game}" for game in OBJECTS for start in ("ungrounded", "grounded"))
VARIED = {f"{name}, jittered": replace(LEARNED[name], pretraining=2_000) for name in CLEAN}
"""Eight times the pictures take longer to learn to see."""
SETTINGS: dict[str, Config] = {**{name: LEARNED[name] for name in CLEAN}, **VARIED}
TO_LEARN, TO_TEST = (8, 1), (4, 2)
"""Pictures of each object and the seed they are drawn with: another seed, other pictures."""
TESTED = ("clean", "jittered")
KEY = RUN


def tasks() -> list[Row]:
    return repeated(list(SETTINGS))


def pictures(runs: Path, drawn: tuple[int, int]) -> str:
    per_object, seed = drawn
    return str(varied_objects(runs / f"pictures-jittered-{per_object}-seed-{seed}", per_object, seed))


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """The same test games, in clean pictures and in varied ones."""
    config, tested = SETTINGS[task["setting"]], {"clean": "objects", "jittered": pictures(runs, TO_TEST)}
    learned = "jittered" if task["setting"] in VARIED else "clean"
    if learned == "jittered":
        config = replace(config, pictures=pictures(runs, TO_LEARN))
    pair = trained(config, task, runs)
    drawn = held_out_games(pair.setting, games, seed=0)
    rows = []
    for name, where in tested.items():
        setting = replace(pair.setting, space=in_pictures_of(pair.setting.space, where))
        figures = summary(played_by(pair.pair(), setting, drawn))
        shares = {name: round(100 * figures[name], 3) for name in ("accuracy", "hard_accuracy", "valid")}
        rows.append({**task, "learned": learned, "tested": name, **shares, **made(games, pair)})
    return rows


def render(rows: list[Row]) -> str:
    """A Markdown table: what was learned from, and the pictures of the test one below the other."""
    names = ("accuracy", "hard_accuracy", "valid")
    lines = ["| setting | learned from | tested on | runs | accuracy | hard | valid |", "|---" * 7 + "|"]
    for setting in SETTINGS:
        for tested in TESTED:
            if mine := [row for row in rows if (row["setting"], row["tested"]) == (setting, tested)]:
                shown, learned = setting.removesuffix(", jittered"), mine[0]["learned"]
                figures = " | ".join(mean_and_std(mine, name) for name in names)
                lines.append(f"| {shown} | {learned} | {tested} | {len(mine)} | {figures} |")
    return "\n".join(lines)

"""What `implicature` offers in Python: the commands as functions that return what the commands print.

A player is a run (its folder or what `train` gave), "exact", "literal", "module:object", or a function of one's own
(docs/own-agents.md). Figures are those of `--json`: shares between 0 and 1.
"""

from pathlib import Path
from typing import Any, TypedDict, Unpack

import jax

from implicature.agents.rsa import Start
from implicature.cli.evaluate import evaluated
from implicature.cli.language import measured
from implicature.cli.train import trained
from implicature.envs.jax_env import game_of
from implicature.evaluation.export import tidy, transcripts_of
from implicature.evaluation.matchup import Meeting, Who, meet
from implicature.evaluation.matchup_args import Sides
from implicature.explain.model import Explanation, explanation, named_space, read
from implicature.games.sampling import Game, Split, draw_games
from implicature.spaces import Space
from implicature.training.config import Config
from implicature.training.run import Run


def load_space(space: str | Path) -> Space:
    """What can be talked about: "numbers-10", "numbers-12", "objects", a .csv or .json file, or a folder of pictures
    with a .csv file.

    >>> kitchen = implicature.load_space("examples/kitchen.csv")
    >>> kitchen.instances, len(kitchen.attributes)
    (12, 16)
    >>> kitchen.label(0), kitchen.names(0)
    ('saucepan', ['metal', 'cooking', 'hot', 'cupboard'])
    """
    return named_space(str(space))


def sample_games(
    game: str = "numbers-4",
    games: int = 1_000,
    *,
    space: Space | Path | str | None = None,
    candidates: int | None = None,
    split: Split = "train",
    seed: int = 0,
) -> Game:
    """Games of a split, as arrays: candidates (numbers of instances), the target's place among them, and the order in
    which the student sees them. No set of candidates is in two of the splits "train", "validation" and "test".

    >>> drawn = implicature.sample_games("numbers-4", 5)
    >>> drawn.candidates.shape, drawn.target.shape
    ((5, 4), (5,))
    >>> implicature.sample_games(space="examples/kitchen.csv", candidates=3, games=5, split="test").order.shape
    (5, 3)
    """
    of, number = game_of(game, space, candidates)
    return draw_games(jax.random.key(seed), games, number, of.instances, split)


def explain(
    *candidates: str, depth: int = 6, beta: float = 10.0, start: Start = "share", space: str | Path | None = None
) -> Explanation:
    """The exact recursion in one game: what each message means literally, how it sharpens when teacher and student
    think about each other, and what teaching each candidate takes.

    >>> found = implicature.explain("blue,sphere", "red,sphere", "blue,cone")
    >>> found.messages
    ['blue', 'sphere', 'red', 'cone']
    >>> [[round(belief, 2) for belief in at.student[0]] for at in found.depths[:2]]  # after "blue", at depths 0 and 1
    [[0.5, 0.0, 0.5], [0.99, 0.0, 0.01]]
    >>> found.level, found.rtd
    ([1, 0, 0], [1, 1, 1])
    """
    return explanation(read(list(candidates), None if space is None else load_space(space)), depth, beta, start)


def train(
    config: Config | None = None, *, out: str | Path | None = None, resume: str | Path | None = None, quiet: bool = True
) -> Run:
    """Train a pair, or several, and return the run, which is a folder (by default a new one in runs/). `resume` goes on
    with one that was stopped. The command divides a batch among all cores: for the same speed set the environment
    variable JAX_NUM_CPU_DEVICES to their number before JAX is imported.

    >>> small = implicature.Config(pretraining=50, iterations=20, phases=1, batch=16, width=4, depth=1, train_games=500)
    >>> run = implicature.train(small, out="runs/small")
    >>> run.finished, sorted(file.name for file in run.folder.glob("phase-*"))
    (True, ['phase-0.safetensors', 'phase-1.safetensors'])
    """
    folder, going_on = (None if path is None else Path(path) for path in (out, resume))
    return trained(config or Config(), None, folder, going_on, quiet)


class Options(TypedDict, total=False):
    """Which games two players meet in. Where one of them is of a run, the run tells all but the first four."""

    games: int
    """How many test games; 20,000 where nothing is said."""
    seed: int
    """Another seed draws other games."""
    phase: int | None
    """Runs as they were after this phase; by default the last."""
    candidates: int | None
    """Another number of candidates than usual."""
    game: str
    """numbers-4, numbers-7, objects-4, objects-7."""
    space: str | None
    """Or a file with a space of one's own."""
    rounds: int
    message_cost: float


def met(teacher: Who, student: Who | None, options: Options) -> Meeting:
    return meet(teacher, teacher if student is None else student, Sides(**options))


def evaluate(
    teacher: Who,
    student: Who | None = None,
    *,
    equivalent: bool = False,
    sampled: bool = False,
    **options: Unpack[Options],
) -> dict[str, Any]:
    """How often two players find the target in test games: accuracy, hard_accuracy, valid (messages that are true of
    the target), by_level, rounds, gain. One player alone plays both sides.

    >>> figures = implicature.evaluate("exact", games=2_000)
    >>> figures["accuracy"] > 0.99, figures["valid"]
    (True, 1.0)
    >>> def honest(sees):  # any true word
    ...     return sees.candidates[sees.target]
    >>> implicature.evaluate(honest, "literal", games=200)["valid"]
    1.0
    """
    return evaluated(met(teacher, student, options), equivalent, sampled)


def language(teacher: Who, student: Who | None = None, **options: Unpack[Options]) -> dict[str, Any]:
    """What the words of two players tell: topographic similarity, mutual information with the target's attributes,
    purity, context independence, speaker consistency, causal influence (docs/language.md).

    >>> told = implicature.language("exact", games=500)
    >>> 0 < told["topographic_similarity"] < 1, told["purity"]
    (True, 1.0)
    """
    return measured(met(teacher, student, options))


def dialogues(teacher: Who, student: Who | None = None, **options: Unpack[Options]) -> list[dict[str, Any]]:
    """What is said, believed and done in test games: a row for each round, as `implicature export` writes them. Such
    rows are a table for pandas, polars and pyarrow.

    >>> row = implicature.dialogues("exact", games=10)[0]
    >>> row["target"], row["message"], row["action"]
    ('{5, 6, 7, 9}', '6', '{5, 6, 7, 9}')
    >>> [name for name in row if name.startswith("candidate")]
    ['candidate_1', 'candidate_2', 'candidate_3', 'candidate_4']
    """
    meeting = met(teacher, student, options)
    columns = tidy(transcripts_of(meeting), meeting.setting.space)
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]

"""What `import implicature` offers: the commands as functions that return what the commands print.

A player is a run (its folder or what `train` gave), "exact", "literal", exact:depth=1,utility=log (docs/rsa.md),
"module:object", or a function of one's own (docs/own-agents.md). Figures are those of `--json`: fractions of 1.
"""

from pathlib import Path
from typing import Any, TypedDict, Unpack

import jax

from implicature.agents.exact_spec import ExactSpec, rationality
from implicature.agents.rsa import Start
from implicature.agents.utility import Utility
from implicature.evaluation.export import tidy_columns, transcribe_matchup
from implicature.evaluation.language import measure_matchup
from implicature.evaluation.matchup import Matchup, evaluate_matchup, load_matchup
from implicature.evaluation.matchup_args import MatchupArgs
from implicature.evaluation.players import Player
from implicature.evaluation.queries import StudentPlayer, TeacherPlayer, load_players
from implicature.explanation.model import Explanation, explain_context
from implicature.explanation.player import explain_player
from implicature.games.context import Context
from implicature.games.contexts import neighbours
from implicature.games.registry import default_contexts, load_game, load_space
from implicature.games.rules import Contexts
from implicature.games.sampling import Game, draw_games
from implicature.games.splits import Split
from implicature.games.typed import typed_arrays
from implicature.spaces import Space
from implicature.training.config import Config
from implicature.training.runs.run import Run, new_run_folder, resume_run, start_run


def players(
    player: Player = "exact", student: Player | None = None, *, phase: int | None = None
) -> tuple[TeacherPlayer, StudentPlayer]:
    """A teacher and a student to ask what they would say and believe in a context. One player alone takes both roles.

    >>> context = implicature.Context("blue,sphere", "red,sphere", "blue,cone")
    >>> teacher, student = implicature.players("exact")
    >>> {word: round(p, 2) for word, p in teacher.speak(context, target=0).items()}
    {'blue': 0.5, 'sphere': 0.5, 'red': 0.0, 'cone': 0.0}
    >>> {name: round(p, 2) for name, p in student.listen(context, "blue").items()}
    {'blue,sphere': 1.0, 'red,sphere': 0.0, 'blue,cone': 0.0}
    >>> {name: round(p, 2) for name, p in teacher.expects(context)["blue"].items()}  # what she thinks he would believe
    {'blue,sphere': 1.0, 'red,sphere': 0.0, 'blue,cone': 0.0}
    """
    return load_players(player, student, phase)


def sample_games(
    game: str = "numbers-4",
    games: int = 1_000,
    *,
    space: Space | Path | str | None = None,
    candidates: int | None = None,
    split: Split = "train",
    seed: int = 0,
    contexts: Contexts | None = None,
    temperature: float | None = None,
) -> Game:
    """Games of a split, as arrays: candidates (numbers of instances), the target's place among them, and the order in
    which the student sees them. No set of candidates is in two of the splits "train", "validation" and "test".
    `contexts` are "random" or "near": neighbours that share words, by a temperature from nearest (0) to random (large).

    >>> drawn = implicature.sample_games("numbers-4", 5)
    >>> drawn.candidates.shape, drawn.target.shape
    ((5, 4), (5,))
    >>> implicature.sample_games(space="examples/kitchen.csv", candidates=3, games=5, split="test").order.shape
    (5, 3)
    """
    loaded, number = load_game(game, space, candidates)
    near = neighbours(loaded, contexts or default_contexts(game, space), temperature)
    return draw_games(jax.random.key(seed), games, number, loaded.instances, split, near=near)


def explain(
    *candidates: str,
    depth: int = 6,
    utility: Utility = "belief",
    beta: float | None = None,
    alpha: float | None = None,
    start: Start = "share",
    noise: float = 0.0,
    context: Context | None = None,
    player: Player | None = None,
    space: str | Path | None = None,
) -> Explanation:
    """The exact recursion in one game: what each message means literally, how it sharpens when teacher and student
    reason about each other, and how hard each candidate is to teach.

    >>> explanation = implicature.explain("blue,sphere", "red,sphere", "blue,cone")
    >>> explanation.messages
    ['blue', 'sphere', 'red', 'cone']
    >>> [[round(b, 2) for b in tables.student[0]] for tables in explanation.depths[:2]]  # "blue", depths 0 and 1
    [[0.5, 0.0, 0.5], [0.99, 0.0, 0.01]]
    >>> explanation.level, explanation.rtd
    ([1, 0, 0], [1, 1, 1])

    The usual rational speech act is utility "log" (docs/rsa.md). A `context` has costs, a prior and a lexicon of its
    own; a `player` is explained in place of the recursion.

    >>> textbook = implicature.explain(
    ...     "blue,sphere", "red,sphere", "blue,cone", utility="log", alpha=1.0, start="indicator", depth=1
    ... )
    >>> [round(b, 2) for b in textbook.depths[1].student[0]]
    [0.6, 0.0, 0.4]
    """
    if context is None:
        arrays, shown = typed_arrays(candidates, None if space is None else load_space(space))
    else:
        arrays, shown = context.arrays(), None
    if player is not None:
        return explain_player(Context(arrays=arrays), player, shown)
    spec = ExactSpec(depth, utility, rationality(utility, alpha, beta), start, noise)
    return explain_context(arrays, spec, shown)


def train(
    config: Config | None = None,
    *,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    phases: int | None = None,
) -> Run:
    """Train a pair, or several, and return the run, which is a folder (by default a new one in runs/). `resume` goes on
    with one that was stopped, or, with more `phases`, with one that has ended. For progress, loop over `run.train()` of
    a run made by `start_run` (docs/extending.md). The command divides a batch among all cores: for the same speed set
    the environment variable JAX_NUM_CPU_DEVICES to their number before JAX is imported.

    >>> small = implicature.Config.of(
    ...     pretraining_iterations=50, iterations=20, phases=1, candidate_sets=16, width=4, layers=1, train_games=500
    ... )
    >>> run = implicature.train(small, out="runs/small")
    >>> run.finished, sorted(file.name for file in run.folder.glob("phase-*"))
    (True, ['phase-0.safetensors', 'phase-1.safetensors'])
    """
    if resume is not None and (config is not None or out is not None):
        raise ValueError("A run is resumed with its own config in its own folder: leave out config and out.")
    if phases is not None and resume is None:
        raise ValueError("phases belong to the config of a new run: write Config.of(phases=…).")
    if config is not None and not isinstance(config, Config):
        raise ValueError(f"{config!r:.60} is not a config: make one with implicature.Config.of(…).")
    config = config or Config()
    run = start_run(Path(out or new_run_folder(config)), config) if resume is None else resume_run(resume, phases)
    for _ in run.train():
        pass
    return run


class Options(TypedDict, total=False):
    """Which games are played. A run plays its own game: then only the first four apply."""

    games: int
    """How many test games; 20,000 by default."""
    seed: int
    """Another seed draws other games."""
    phase: int | None
    """Runs as they were after this phase; by default the last."""
    candidates: int | None
    """Another number of candidates than usual."""
    game: str
    """numbers-4, numbers-7, objects-4, objects-7, emoji-7, emoji-16, emoji-50."""
    space: str | None
    """Or a file with a space of one's own."""
    contexts: Contexts | None
    """"random" or "near"; by default as the game has it."""
    context_temperature: float | None
    rounds: int
    message_cost: float
    noise: float
    """How likely a word is received as another one; also for runs, as the next."""
    qud: str | None
    """A category of the space: an answer that agrees with the target in it is right."""


def matchup(teacher: Player, student: Player | None, options: Options) -> Matchup:
    return load_matchup(teacher, teacher if student is None else student, MatchupArgs(**options))


def evaluate(
    teacher: Player,
    student: Player | None = None,
    *,
    equivalent: bool = False,
    sampled: bool = False,
    **options: Unpack[Options],
) -> dict[str, Any]:
    """How often two players find the target in test games: accuracy, hard_accuracy, valid (messages that are true of
    the target), by_level, messages, return. One player alone takes both roles.

    >>> figures = implicature.evaluate("exact", games=2_000)
    >>> figures["accuracy"] > 0.99, figures["valid"]
    (True, 1.0)
    >>> def honest(observation):  # any true word
    ...     return observation.candidates[observation.target]
    >>> implicature.evaluate(honest, "literal", games=200)["valid"]
    1.0
    """
    return evaluate_matchup(matchup(teacher, student, options), equivalent, sampled)


def language(teacher: Player, student: Player | None = None, **options: Unpack[Options]) -> dict[str, Any]:
    """Measures of two players' language: topographic similarity, mutual information with the target's attributes,
    purity, context independence, speaker consistency, causal influence (docs/language.md).

    >>> measures = implicature.language("exact", games=500)
    >>> 0 < measures["topographic_similarity"] < 1, measures["purity"]
    (True, 1.0)
    """
    return measure_matchup(matchup(teacher, student, options))


def dialogues(teacher: Player, student: Player | None = None, **options: Unpack[Options]) -> list[dict[str, Any]]:
    """What is said, believed and done in test games: a row for each round, as `implicature export` writes them. Such
    rows are a table for pandas, polars and pyarrow.

    >>> row = implicature.dialogues("exact", games=10)[0]
    >>> row["target"], row["message"], row["action"]
    ('{5, 6, 7, 9}', '6', '{5, 6, 7, 9}')
    >>> [name for name in row if name.startswith("candidate")]
    ['candidate_1', 'candidate_2', 'candidate_3', 'candidate_4']
    """
    played = matchup(teacher, student, options)
    columns = tidy_columns(transcribe_matchup(played), played.task.space)
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]

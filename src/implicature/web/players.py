"""Agents that can be played with: exact ones of any depth, the pretrained pair, the pairs of a run, and any two
players."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from implicature import __version__
from implicature.agents.belief import Belief
from implicature.agents.contracts import Pair
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.agents.student import LearnedStudent
from implicature.evaluation.held_out import feature_table
from implicature.evaluation.matchup import combine, load_agents, shared_task
from implicature.evaluation.players import ROLES, load_player
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.nn.likelihood import Table
from implicature.spaces import Space
from implicature.training.runs.run import Run, read_config
from implicature.training.runs.space_file import run_space
from implicature.training.task import make_task
from implicature.web.dealing import DealtGame, PlayableGame, padded_lexicon, playable_games

PRETRAINED = Path(__file__).parents[1] / "training" / "pretrained" / "numbers-4"
MAX_DEPTH = 6
DEFAULT_DEPTH = 3

Features = Float[np.ndarray, "instances features"]


class AbstractStudentTables(eqx.Module):
    """What a student assumes about the teacher, where that can be read off him: the page's reasons are made of it."""

    @abstractmethod
    def likelihood(self, context: Context, belief: Belief) -> Table:
        """P(message | candidate) of the teacher he assumes."""


class ExactTables(AbstractStudentTables):
    model: ExactModel

    def likelihood(self, context: Context, belief: Belief) -> Table:
        return self.model.tables(context.lexicon, belief)[0]


class LearnedTables(AbstractStudentTables):
    student: LearnedStudent

    def likelihood(self, context: Context, belief: Belief) -> Table:
        return jnp.exp(self.student.encode(context).log_likelihood)


@dataclass(frozen=True, eq=False)
class Observations:
    """What the teacher and the student see of every instance, and which words are true of it."""

    teacher: Features
    student: Features
    lexicon: Bool[np.ndarray, "instances words"]
    padded: bool = False
    """Whether games are padded with the last instance, a blank, so that one program serves any number of candidates."""


@dataclass(frozen=True, eq=False)
class LoadedPair:
    pair: Pair
    observations: Observations
    tables: AbstractStudentTables | None = None


@dataclass(frozen=True, eq=False)
class PlayableAgent:
    """An agent by name, for either role. Its variants are depths or training phases: the positions of the slider."""

    name: str
    title: str
    variants: tuple[str, ...]
    default_variant: int
    games: tuple[str, ...]
    grounded: bool
    """Whether a word means the attribute that it names."""
    load: Callable[[int, DealtGame], LoadedPair]
    """The pair of a variant for a game."""
    version: str = __version__


def exact_observations(game: PlayableGame) -> Observations:
    lexicon = padded_lexicon(game)
    features = lexicon.astype(np.float32)
    return Observations(features, features, lexicon, padded=True)


def exact_agent(games: dict[str, PlayableGame]) -> PlayableAgent:
    @lru_cache(maxsize=256)
    def load_exact(depth: int, game: str, message_cost: float) -> LoadedPair:
        model = ExactModel(jnp.asarray(depth), share=jnp.asarray(games[game].share))
        pair = Pair(ExactTeacher(model), ExactStudent(model, message_cost))
        return LoadedPair(pair, exact_observations(games[game]), ExactTables(model))

    variants = tuple("depth 0, literal" if depth == 0 else f"depth {depth}" for depth in range(MAX_DEPTH + 1))
    return PlayableAgent(
        "exact", "Exact", variants, DEFAULT_DEPTH, tuple(games), True,
        lambda depth, dealt: load_exact(depth, dealt.game, dealt.message_cost),
    )  # fmt: skip


def prepare_pair(pair: Pair, space: Space) -> LoadedPair:
    """The pair on one device, with the first image of each instance where it sees images."""
    arrays, rest = eqx.partition(pair, eqx.is_array)
    pair = eqx.combine(jax.device_put(arrays, jax.devices()[0]), rest)
    features = feature_table(pair, space)
    rows = np.arange(space.instances) * features.views_per_instance
    teacher, student = np.asarray(features.teacher)[rows], np.asarray(features.student)[rows]
    return LoadedPair(pair, Observations(teacher, student, space.table))


class RunPairs:
    """The pairs of a run folder, one a phase, loaded when they are first played with."""

    def __init__(self, folder: Path):
        self.folder, self.config = folder, read_config(folder)
        self.space, self.candidates = run_space(folder, self.config)
        phases = range(self.config.optimiser.phases + 1)
        self.phases = [phase for phase in phases if (folder / f"phase-{phase}.safetensors").exists()]
        if not self.phases:
            raise ValueError(f"{folder} has no pair that could play: `implicature train --resume {folder}` makes one.")
        self._lock = Lock()
        self._loaded: list[LoadedPair] | None = None

    def load(self) -> list[LoadedPair]:
        with self._lock:
            if self._loaded is None:
                # Nothing is trained here, so hardly any training games need be drawn.
                task = make_task(self.config.replace(train_games=1), (self.space, self.candidates))
                trained_with = task.config.replace(train_games=self.config.data.train_games)
                run = Run(self.folder, replace(task, config=trained_with))
                self._loaded = [self._load_pair(run.pair(phase)) for phase in self.phases]
            return self._loaded

    def _load_pair(self, pair: Pair) -> LoadedPair:
        loaded = prepare_pair(pair, self.space)
        student = loaded.pair.student
        return replace(loaded, tables=LearnedTables(student)) if isinstance(student, LearnedStudent) else loaded


def games_in_space(space: Space, candidates: int, games: dict[str, PlayableGame]) -> tuple[str, ...]:
    """The names of all games in this space; where there is none, one is added."""

    def is_same(other: Space) -> bool:
        return other.attributes == space.attributes and np.array_equal(other.table, space.table)

    names = tuple(game.name for game in games.values() if is_same(game.space))
    if not names:
        names = ("custom",)
        games["custom"] = PlayableGame("custom", space.name, "words", space, candidates)
    return names


def run_agent(name: str, title: str, folder: Path, games: dict[str, PlayableGame]) -> PlayableAgent:
    """The pairs of a run folder, in every game of its space."""
    pairs = RunPairs(folder)
    names = games_in_space(pairs.space, pairs.candidates, games)
    grounded = pairs.config.grounding.grounded
    first = "phase 0, literal" if grounded else "phase 0, untrained"
    variants = tuple(first if phase == 0 else f"phase {phase}" for phase in pairs.phases)
    return PlayableAgent(
        name, title, variants, len(variants) - 1, names, grounded, lambda variant, _: pairs.load()[variant]
    )


def matchup_agent(teacher: str, student: str, games: dict[str, PlayableGame]) -> PlayableAgent:
    """Any two players, named as for `implicature evaluate`, in every game of their run's space, or in all games."""
    opened: dict[Path, Run] = {}
    specs = load_player(teacher, opened), load_player(student, opened)
    names = tuple(games)
    if opened:
        task = shared_task(opened)
        names = games_in_space(task.space, task.rules.candidates, games)

    @lru_cache(maxsize=256)
    def load_pair(name: str, rules: Rules) -> LoadedPair:
        game = games[name]
        teachers, students = (
            load_agents(spec, role, game.space, rules, None, game.share)
            for spec, role in zip(specs, ROLES, strict=True)
        )
        return prepare_pair(combine(teachers[:1], students[:1])[0], game.space)

    def load(_: int, dealt: DealtGame) -> LoadedPair:
        return load_pair(dealt.game, Rules(max(2, len(dealt.instances)), dealt.rounds, dealt.message_cost))

    title = f"{teacher} teaches {student}"
    return PlayableAgent("matchup", title, ("as given",), 0, names, True, load)


def load_agents_and_games(
    run: Path | None, players: tuple[str, str] | None = None
) -> tuple[dict[str, PlayableGame], dict[str, PlayableAgent]]:
    """The games and the agents of one server, by name; those that were asked for come first."""
    games = dict(playable_games())
    pretrained = run_agent("pretrained", "Trained pair", PRETRAINED, games)
    asked = [] if players is None else [matchup_agent(*players, games)]
    if run is not None:
        asked.append(run_agent("run", f"Your run {run.name}", run, games))
    for agent in asked:
        agent.load(0, DealtGame(agent.games[0], (), 0, 0, 1))  # better an error now than on the page
    return games, {agent.name: agent for agent in (*asked, exact_agent(games), pretrained)}

"""Who can be played with: exact agents of any depth, the pair that comes with the package, a run of one's own, and any
two who meet: agents of one's own, of runs, exact ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from implicature import __version__
from implicature.agents.exact import ExactStudent, ExactTeacher, Recursion
from implicature.agents.rsa import Belief, Table, Truth
from implicature.evaluation.held_out import sights_between
from implicature.evaluation.matchup import Seat, Side, not_of_a_run, of_run, seated, together
from implicature.games.sampling import Rules
from implicature.nn.belief_nets import Reading, posterior
from implicature.nn.image_encoder import Sights
from implicature.spaces import Space
from implicature.training.algorithm1 import Pair
from implicature.training.run import Run, read_config, setting_of, space_of
from implicature.web.dealing import MOST_CANDIDATES, Deal, Playable, padded, playables

SHIPPED = Path(__file__).parents[1] / "training" / "pretrained" / "numbers-4"
MOST_DEPTH = 6
ABOUT = 0.75
"""A share of the largest chance from which on a network's word is as good."""

Tables = Callable[[Any, Any, Belief], tuple[Table, Table]]
"""What he expects her to say, and what he would believe after each message, from his reading and his belief."""

Seen = Float[np.ndarray, "instances features"]


@dataclass(frozen=True)
class Sides:
    """Both agents at one step, and how they see instances."""

    teacher: Any
    student: Any
    tables: Tables
    hers: Seen
    his: Seen
    room: int | None = None
    """Candidates that a game is padded to with blanks, the last of the instances; None where they must not be."""


@dataclass(frozen=True, eq=False)
class Player:
    """An agent by its name. Its steps are depths or training phases: the slider's places."""

    name: str
    title: str
    version: str
    steps: tuple[str, ...]
    step: int
    """Where the slider begins."""
    games: tuple[str, ...]
    grounded: bool
    """Whether its words mean what they say."""
    sides: Callable[[int, Deal], Sides]
    open: bool = True
    """Whether what he expects of her can be read off him, so that a reason can be given in words."""


def exact_tables(student: ExactStudent, truth: Truth, belief: Belief) -> tuple[Table, Table]:
    return student.mind.tables(truth, belief)


def learned_tables(student: Any, reading: Reading, belief: Belief) -> tuple[Table, Table]:
    """Words that a network deems about as likely count as equals: it is never exact, and people would call them so."""
    chance = jnp.exp(reading.log_likelihood)
    top = chance >= ABOUT * jnp.max(chance, axis=1, keepdims=True)
    mean = jnp.sum(chance * top, axis=1, keepdims=True) / jnp.sum(top, axis=1, keepdims=True)
    return jnp.where(top, mean, chance), posterior(reading.log_likelihood, belief)


def exact_player(games: dict[str, Playable]) -> Player:
    truth = {name: padded(game).astype(np.float32) for name, game in games.items()}

    @lru_cache(maxsize=256)
    def both(step: int, game: str, cost: float) -> Sides:
        mind = Recursion(jnp.asarray(step), share=jnp.asarray(games[game].share))
        return Sides(
            ExactTeacher(mind), ExactStudent(mind, cost), exact_tables, truth[game], truth[game], MOST_CANDIDATES
        )

    steps = tuple("depth 0, literal" if t == 0 else f"depth {t}" for t in range(MOST_DEPTH + 1))
    return Player(
        "exact", "Exact", __version__, steps, 3, tuple(games), True, lambda step, deal: both(step, deal.game, deal.cost)
    )


def same(one: Space, other: Space) -> bool:
    return one.attributes == other.attributes and np.array_equal(one.table, other.table)


def first_looks(sights: Sights, space: Space) -> tuple[Seen, Seen]:
    """How she and he see each instance, in its first picture."""
    rows = np.arange(space.instances) * sights.variety
    return np.asarray(sights.hers)[rows], np.asarray(sights.his)[rows]


class Loaded:
    """The pairs of a run folder, one a phase, read when they are first played with."""

    def __init__(self, folder: Path):
        self.config = read_config(folder)
        self.space, self.candidates = space_of(self.config)
        self.phases = [i for i in range(self.config.phases + 1) if (folder / f"phase-{i}.safetensors").exists()]
        if not self.phases:
            raise ValueError(f"{folder} has no pair that could play: `implicature train --resume {folder}` makes one.")
        self.folder, self._reading = folder, Lock()
        self._found: list[Sides] | None = None

    def read(self) -> list[Sides]:
        """The pairs and how they see instances."""
        with self._reading:
            if self._found is None:
                # Nothing is trained here, so hardly any training games need be drawn.
                run = Run(self.folder, setting_of(replace(self.config, train_games=1)))
                self._found = [self._sides(run.pair(phase)) for phase in self.phases]
            return self._found

    def _sides(self, pair: Pair) -> Sides:
        pair = jax.device_put(pair, jax.devices()[0])
        sights = sights_between(pair.teacher, pair.student, self.space)
        return Sides(pair.teacher, pair.student, learned_tables, *first_looks(sights, self.space))


def games_in(space: Space, candidates: int, games: dict[str, Playable]) -> tuple[str, ...]:
    """Every game in this space; where there is none such, one is added."""
    mine = tuple(game.name for game in games.values() if same(game.space, space))
    if not mine:
        mine = ("yours",)
        games["yours"] = Playable("yours", space.name, "words", space, candidates)
    return mine


def trained_player(name: str, title: str, folder: Path, games: dict[str, Playable]) -> Player:
    """A run folder as a player of every game in its space."""
    loaded = Loaded(folder)
    mine = games_in(loaded.space, loaded.candidates, games)

    def both(step: int, deal: Deal) -> Sides:
        return loaded.read()[step]

    grounded = loaded.config.grounded
    first = "phase 0, literal" if grounded else "phase 0, untrained"
    steps = tuple(first if phase == 0 else f"phase {phase}" for phase in loaded.phases)
    return Player(name, title, __version__, steps, len(steps) - 1, mine, grounded, both)


def no_tables(student: Any, reading: Any, belief: Belief) -> tuple[Table, Table]:
    """Of agents who only answer."""
    nothing = jnp.zeros((len(belief), 0))
    return nothing, nothing


def met_player(teacher: str, student: str, games: dict[str, Playable]) -> Player:
    """Any two agents, named as for `implicature evaluate`: of every game in a run's space, or of all games."""
    opened: dict[Path, Run] = {}
    hers, his = seated(teacher, opened), seated(student, opened)
    mine = tuple(games)
    if opened:
        setting = together(opened)
        mine = games_in(setting.space, setting.rules.candidates, games)

    def agent(seat: Seat, side: Side, game: Playable, rules: Rules) -> Any:
        if seat.run is None:
            return not_of_a_run(seat, side, game.space, rules, game.share)
        return jax.device_put(of_run(seat.run, side, None, seat.number)[0], jax.devices()[0])

    @lru_cache(maxsize=256)
    def both(game: str, candidates: int, rounds: int, cost: float) -> Sides:
        rules, space = Rules(candidates, rounds, cost), games[game].space
        pair = agent(hers, "teacher", games[game], rules), agent(his, "student", games[game], rules)
        sights = sights_between(*pair, space)
        return Sides(*pair, no_tables, *first_looks(sights, space))

    def sides(_: int, deal: Deal) -> Sides:
        return both(deal.game, max(2, len(deal.instances)), deal.rounds, deal.cost)

    title = f"{teacher} teaches {student}"
    return Player("met", title, __version__, ("as they are",), 0, mine, True, sides, open=False)


def all_players(run: Path | None, both: tuple[str, str] | None = None) -> tuple[dict[str, Playable], dict[str, Player]]:
    """The games and the players of one server, by name; whom was asked for comes first."""
    games = dict(playables())
    shipped = trained_player("pair", "Trained pair", SHIPPED, games)
    asked = [] if both is None else [met_player(*both, games)]
    if run is not None:
        asked.append(trained_player("run", f"Your run {run.name}", run, games))
    for player in asked:
        player.sides(0, Deal(player.games[0], (), 0, 0, 1))  # better a sentence now than a problem on the page
    return games, {player.name: player for player in (*asked, exact_player(games), shipped)}

"""Who can be played with: exact agents of any depth, the pair that comes with the package, a run of one's own."""

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
from implicature.agents.belief import Reading, posterior
from implicature.agents.exact import Belief, Table, Truth
from implicature.agents.exact_pair import ExactStudent, ExactTeacher, Recursion
from implicature.evaluation.runs import sights_between
from implicature.interfaces.play.deals import MOST_CANDIDATES, Deal, Playable, padded, playables
from implicature.spaces import Space
from implicature.training.adaptation import Pair
from implicature.training.run import Run, read_config, setting_of, space_of

SHIPPED = Path(__file__).with_name("pair")
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
        first_looks = np.arange(self.space.instances) * sights.variety
        hers, his = (np.asarray(seen)[first_looks] for seen in (sights.hers, sights.his))
        return Sides(pair.teacher, pair.student, learned_tables, hers, his)


def trained_player(name: str, title: str, folder: Path, games: dict[str, Playable]) -> Player:
    """A run folder as a player of every game in its space; where there is none such, a game is added."""
    loaded = Loaded(folder)
    mine = tuple(game.name for game in games.values() if same(game.space, loaded.space))
    if not mine:
        mine = ("yours",)
        games["yours"] = Playable("yours", loaded.space.name, "words", loaded.space, loaded.candidates)

    def both(step: int, deal: Deal) -> Sides:
        return loaded.read()[step]

    grounded = loaded.config.grounded
    first = "phase 0, literal" if grounded else "phase 0, untrained"
    steps = tuple(first if phase == 0 else f"phase {phase}" for phase in loaded.phases)
    return Player(name, title, __version__, steps, len(steps) - 1, mine, grounded, both)


def all_players(run: Path | None) -> tuple[dict[str, Playable], dict[str, Player]]:
    """The games and the players of one server, by name."""
    games = dict(playables())
    found = [trained_player("pair", "Trained pair", SHIPPED, games)]
    if run is not None:
        mine = trained_player("run", f"Your run {run.name}", run, games)
        mine.sides(0, Deal(mine.games[0], (), 0, 0, 1))  # better a sentence now than a problem on the page
        found.insert(0, mine)
    return games, {player.name: player for player in (*found[:-1], exact_player(games), found[-1])}

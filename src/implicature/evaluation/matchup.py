"""A matchup: two players, of one run or of two, or of none, and test games that no run among them was trained with."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from implicature.agents.contracts import AbstractStudent, AbstractTeacher, Pair
from implicature.agents.perspectives import FeatureTable
from implicature.agents.rollout import argmax, boltzmann
from implicature.evaluation.held_out import aggregate, feature_table, held_out_games, renaming_categories
from implicature.evaluation.matchup_args import MatchupArgs
from implicature.evaluation.players import (
    ROLES,
    Player,
    PlayerSpec,
    Role,
    check_traceable,
    load_player,
    make_agent,
    plain_errors,
    run_agents,
)
from implicature.evaluation.rollouts import GameResults, play_games, summarize, summarize_by_rtd
from implicature.games.context import Context
from implicature.games.registry import load_images
from implicature.games.rules import Rules
from implicature.games.sampling import Game, check_n_games
from implicature.nn.image_encoder import ImageEncoder
from implicature.spaces import Space
from implicature.training.checks import flag
from implicature.training.config import Config
from implicature.training.runs.run import Run, with_layers
from implicature.training.task import Task, make_task

MAX_RTD_CANDIDATES = 12
"""The recursive teaching dimension is tabulated up to here."""
GAME_FLAGS = ("game", "space", "contexts", "context_temperature", "rounds", "message_cost")
"""Which game is played where no run says so."""
Agent = tuple[AbstractTeacher | AbstractStudent, ImageEncoder | None]


@dataclass(frozen=True)
class Matchup:
    """Pairs who play the same test games."""

    title: str
    task: Task
    rules: Rules
    games: Game
    pairs: list[Pair]
    novel: bool = False
    """Whether targets were held out from training."""
    images: str | None = None
    """Other images than those of the task, by the name they were asked for."""

    def special(self) -> list[str]:
        """What is special about these test games."""
        return ["novel targets"] * self.novel + [f"images of {self.images}"] * (self.images is not None)

    def features(self, pair: Pair) -> FeatureTable:
        return feature_table(pair, self.task.space)

    def play(self, equivalent: bool = False, sampled: bool = False) -> list[GameResults]:
        """The results of each pair. With `sampled` the teacher samples from softmax(β Q), as in training."""
        space, lexicon = self.task.space, self.task.data.semantics
        categories = renaming_categories(space) if equivalent else None
        beta = self.task.config.method.beta
        speak = boltzmann(1.0 if beta is None else beta) if sampled else argmax
        with plain_errors():
            return [
                play_games(
                    pair, self.features(pair), lexicon, self.games, self.rules, categories=categories, speak=speak
                )
                for pair in self.pairs
            ]


def evaluate_matchup(matchup: Matchup, equivalent: bool = False, sampled: bool = False) -> dict[str, Any]:
    """The figures of all pairs."""
    each = matchup.play(equivalent, sampled)
    figures = aggregate([summarize(results) for results in each])
    if matchup.rules.rounds > 1 and matchup.rules.candidates <= MAX_RTD_CANDIDATES:
        tables = [summarize_by_rtd(results) for results in each]
        figures["by_rtd"] = {
            rtd: {name: float(np.mean([table[rtd][name] for table in tables])) for name in tables[0][rtd]}
            for rtd in tables[0]
        }
    return figures


def same_space(one: Space, other: Space) -> bool:
    """Whether two spaces have the same instances, words and meanings."""
    pairs = (one.features, other.features), (one.lexicon.meaning, other.lexicon.meaning)
    names = one.attributes == other.attributes and one.words == other.words
    return names and all(np.array_equal(first, second) for first, second in pairs)


def shared_task(runs: dict[Path, Run]) -> Task:
    """The task of the games that these runs can play: the first one's, if they share its space and its test games."""
    (first, run), *others = runs.items()
    task = run.task
    for name, other in others:
        space, other_space = task.space, other.task.space
        if not same_space(space, other_space):
            raise ValueError(f"{first} and {name} have different spaces: cross-play needs one space for both.")
        if task.config.data.split_seed != other.config.data.split_seed or (
            task.config.data.train_instance_fraction != other.config.data.train_instance_fraction
        ):
            raise ValueError(
                f"What {first} tests with {name} may have trained with: their --split-seed or "
                "--train-instance-fraction differ."
            )
    return task


def combine(teachers: list[Agent], students: list[Agent]) -> list[Pair]:
    """Pairs of the agents of either role; a role of one plays with each of the other."""
    sizes = len(teachers), len(students)
    number = max(sizes) if 1 in sizes else min(sizes)
    pairs = []
    for i in range(number):
        (teacher, teacher_encoder), (student, student_encoder) = teachers[i % sizes[0]], students[i % sizes[1]]
        assert isinstance(teacher, AbstractTeacher)
        assert isinstance(student, AbstractStudent)
        pairs.append(Pair(teacher, student, teacher_encoder, student_encoder))
    return pairs


def load_agents(
    spec: PlayerSpec, role: Role, space: Space, rules: Rules, phase: int | None, share: bool = True
) -> list[Agent]:
    if spec.run is not None:
        return run_agents(spec.run, role, phase, spec.pair_index)
    agent = make_agent(spec, role, len(space.words), rules, share)
    some = slice(rules.candidates)
    features, meaning = jnp.asarray(space.features[some], jnp.float32), jnp.asarray(space.lexicon.meaning[some])
    check_traceable(agent, spec, Context(features=features, lexicon=meaning), rules)
    return [(agent, None)]


def at_layers(spec: PlayerSpec, layers: int) -> PlayerSpec:
    """The same player with another number of layers."""
    if spec.run is None:
        raise ValueError(f"--layers is of runs, and {spec.name} is none: leave it out.")
    return spec._replace(run=with_layers(spec.run, layers))


def check_ignored(asked: MatchupArgs, with_run: bool) -> None:
    """Raise an error for an option that has no effect, since a run has its own game, and only a run has phases."""
    defaults = MatchupArgs()
    for name in GAME_FLAGS if with_run else ("phase",):
        if getattr(asked, name) != getattr(defaults, name):
            because = "with a run, which plays its own game" if with_run else "without a run: only a run has phases"
            raise ValueError(f"{flag(name)} has no effect {because}. Leave it out.")


def load_matchup(teacher: Player, student: Player, asked: MatchupArgs) -> Matchup:
    """Any two players, and the test games that are asked for."""
    check_n_games(asked.games)
    opened: dict[Path, Run] = {}
    specs = load_player(teacher, opened), load_player(student, opened)
    if asked.layers is not None:
        specs = at_layers(specs[0], asked.layers), at_layers(specs[1], asked.layers)
    runs = {spec.run.folder: spec.run for spec in specs if spec.run is not None}
    check_ignored(asked, bool(runs))
    game = {name: getattr(asked, name) for name in (*GAME_FLAGS, "candidates")}
    task = shared_task(runs) if runs else make_task(Config.of(**game, train_games=1))
    if any(spec.function is not None for spec in specs):
        task = replace(task, data=replace(task.data, live=None))  # agents of one's own know the whole vocabulary
    games = held_out_games(task, asked.games, asked.seed, asked.candidates, novel=asked.novel)
    rules = replace(task.rules, candidates=games.candidates.shape[1], noise=asked.noise)
    if asked.qud is not None:
        cells = jnp.asarray(task.space.cells(asked.qud))
        task = replace(task, data=eqx.tree_at(lambda data: data.cells, task.data, cells, is_leaf=lambda x: x is None))
    teachers, students = (
        load_agents(spec, role, task.space, rules, asked.phase) for spec, role in zip(specs, ROLES, strict=True)
    )
    pairs = combine(teachers, students)
    phase = task.config.optimiser.phases if asked.phase is None else asked.phase
    if asked.images is not None:
        if all(pair.teacher_encoder is None and pair.student_encoder is None for pair in pairs):
            raise ValueError("These agents know candidates by their attributes, not by --images: leave that out.")
        task = replace(task, space=load_images(task.space, asked.images))
    return Matchup(matchup_title(*specs, phase), task, rules, games, pairs, asked.novel, asked.images)


def matchup_title(teacher: PlayerSpec, student: PlayerSpec, phase: int) -> str:
    if teacher.name != student.name:
        return f"{teacher.name} teaches {student.name}"
    return f"{teacher.name} with {student.name}" if teacher.run is None else f"{teacher.name}: phase {phase}"

"""A run: stages of training in a folder that can be left and taken up again at any moment.

    RUN/config.json               the config, the version
    RUN/metrics.csv               a line for each chunk of iterations and each pair
    RUN/events                    the same for TensorBoard
    RUN/phase-N.safetensors       the pairs after phase N; phase 0 is before the first
    RUN/checkpoint.safetensors    where training stands, and previous.safetensors the checkpoint before it

Every random number is a function of (seed, stage, iteration), so a run that was killed and resumed ends bit-identical
to one that was not.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from implicature import __version__
from implicature.agents.rollout import dialogue, greedily
from implicature.files import write_atomic
from implicature.games.sampling import Game, Rules, check_games, check_split, draw_games, named_game, split_instances
from implicature.nn.image_encoder import Looks, Sights
from implicature.spaces import SPACES, Space
from implicature.spaces.io import load_space
from implicature.spaces.space import pictured
from implicature.training.algorithm1 import (
    Learner,
    Pair,
    TeacherState,
    World,
    grounding_step,
    iterate,
    learner,
    looking_step,
    new_pair,
    student_step,
    teacher_state,
    teacher_step,
    views,
)
from implicature.training.checkpoint import load_tree, read_notes, save_tree
from implicature.training.checks import check_config, check_size, read_config
from implicature.training.config import Config
from implicature.training.joint import joint_step, pair_of_2017, pair_of_2018
from implicature.training.metrics import Metrics, Where
from implicature.training.pretraining import teaching_of
from implicature.training.sharding import OWN_LOOPS, over_parts, placed, processors
from implicature.training.tensorboard import Events

PAIRS: dict[str, Callable[..., Pair]] = {"pragmatic": new_pair, "la-2017": pair_of_2017, "la-2018": pair_of_2018}
"""Two new agents of each method."""
FILES = ("metrics.csv", "events", "*.safetensors")
"""What a run writes into its folder, beside its config."""
CHUNK = 250
VALIDATION_GAMES = 2_000


@dataclass(frozen=True)
class Stage:
    """Pretraining of one agent's belief (phase 0), one half of a phase, or a phase in which both learn together."""

    phase: int
    agent: Literal["teacher", "student", "both"]
    iterations: int


def stages(config: Config, in_pictures: bool = False) -> list[Stage]:
    """Algorithm 1's two outer loops, after what is learned before: meanings where the pair is grounded, seeing. The
    agents of a baseline do not take turns."""
    before = config.pretraining if config.grounded or in_pictures else 0
    turns = ("teacher", "student") if first_of(config) == "teacher" else ("student", "teacher")
    grounding = [Stage(0, agent, before) for agent in turns if before]
    agents = turns if config.method == "pragmatic" else ("both",)
    return grounding + [Stage(i, agent, config.iterations) for i in range(1, config.phases + 1) for agent in agents]


def named_phase(config: Config, phase: int) -> str:
    """What is learned before the first phase is meanings, or, without these, to see."""
    return f"phase {phase}" if phase else "grounding" if config.grounded else "looking"


def first_of(config: Config) -> Literal["teacher", "student"]:
    """Who adapts first in a phase (F-17)."""
    if config.first == "auto":
        return "student" if config.grounded else "teacher"
    return config.first


@dataclass(frozen=True)
class Setting:
    """The config made concrete."""

    config: Config
    space: Space
    rules: Rules
    world: World
    validation: Game


def space_of(config: Config) -> tuple[Space, int]:
    """The space and the number of candidates that a config asks for."""
    if config.space is None:
        space, candidates = named_game(config.game)
        candidates = config.candidates or candidates
    else:
        space = load_space(config.space)
        if config.candidates is None:
            raise ValueError(f"How many candidates of {config.space} make a game? Say it with --candidates.")
        candidates = config.candidates
    check_games(space, candidates)
    return space if config.pictures is None else in_pictures_of(space, config.pictures), candidates


def in_pictures_of(space: Space, name: str) -> Space:
    """The space in other pictures of its instances: a folder's, or those that come with a space of the package."""
    return pictured(space, SPACES[name]() if name in SPACES else load_space(name))


def instances_of(config: Config, space: Space, seen: bool) -> Int[Array, " instances"]:
    """The instances games are made of: those used in training, or those held out."""
    if config.instances >= 1:
        return jnp.arange(space.instances)
    parts = split_instances(space.instances, config.instances, config.split)
    return jnp.asarray(parts[0] if seen else parts[1])


def setting_of(config: Config) -> Setting:
    check_config(config)
    space, candidates = space_of(config)
    rules = Rules(candidates, config.rounds, config.message_cost)
    instances = instances_of(config, space, seen=True)
    check_games(space, candidates, len(instances))
    # Better now than after training.
    check_split(instances_of(config, space, seen=False), candidates, "test", config.split)
    train_key, validation_key = jax.random.split(jax.random.key(config.split))
    games = draw_games(train_key, config.train_games, candidates, instances, "train", config.split)
    validation = draw_games(validation_key, VALIDATION_GAMES, candidates, instances, "validation", config.split)
    return Setting(config, space, rules, World(looks_of(config, space), jnp.asarray(space.table), games), validation)


def looks_of(config: Config, space: Space) -> Looks:
    """Pictures where the space has them and the pair may see them, else attributes."""
    pictures = space.pictures
    if config.sight == "symbols" or (config.sight == "auto" and pictures is None):
        return jnp.asarray(space.table, jnp.float32)
    if pictures is None:
        raise ValueError(f"The space {space.name} has no pictures to see: leave out --sight, or give it some.")
    return jnp.asarray(pictures.reshape(-1, *pictures.shape[2:]))


def over_seeds(function: Callable[..., Any]) -> Callable[..., Any]:
    """Do it for every pair, along the leading axis of all arguments. One pair after the other inside one program: on
    processors that is faster than batched matrix products."""

    def mapped(*arguments: Any) -> Any:
        arrays, rest = eqx.partition(arguments, eqx.is_array)
        kept: list[Any] = []

        def one(arrays: Any) -> Any:
            out, out_rest = eqx.partition(function(*eqx.combine(arrays, rest)), eqx.is_array)
            kept.append(out_rest)
            return out

        return eqx.combine(jax.lax.map(one, arrays), kept[0])

    return mapped


def with_eyes(agent: Any, eyes: Any) -> Any:
    return eqx.tree_at(lambda agent: agent.eyes, agent, eyes, is_leaf=lambda eyes: eyes is None)


def begin(stage: Stage, pair: Pair, config: Config, rules: Rules) -> Any:
    """The learner's state at the start of a stage. Unless they learn from the game, eyes are shut while it is learned:
    what they see is known."""
    if stage.phase == 0:
        agent = getattr(pair, stage.agent)
        return learner((agent.belief, agent.eyes), config, stage.iterations)
    if config.sight != "end-to-end":
        pair = Pair(with_eyes(pair.teacher, None), with_eyes(pair.student, None))
    if stage.agent == "teacher":
        return teacher_state(pair.teacher, config, rules)
    return learner(pair if stage.agent == "both" else pair.student, config, stage.iterations)


def learned(stage: Stage, pair: Pair, state: Learner | TeacherState) -> Pair:
    """The pair with what the learner knows by now."""
    model = state.learner.model if isinstance(state, TeacherState) else state.model

    def awake(now: Any, before: Any) -> Any:
        return with_eyes(now, before.eyes) if now.eyes is None else now

    if stage.agent == "both":
        return Pair(awake(model.teacher, pair.teacher), awake(model.student, pair.student))
    before = getattr(pair, stage.agent)
    if stage.phase == 0:
        net, eyes = model
        now = with_eyes(eqx.tree_at(lambda agent: agent.belief, before, net), eyes)
    else:
        now = awake(model, before)
    return eqx.tree_at(lambda pair: getattr(pair, stage.agent), pair, now)


@eqx.filter_jit
def all_sights(pairs: Pair, looks: Looks) -> Sights:
    """What each pair sees."""
    return over_seeds(lambda pair: pair.sights(looks))(pairs)


@eqx.filter_jit
def accuracies(pairs: Pair, sights: Sights, world: World, games: Game, rules: Rules) -> Float[Array, " seeds"]:
    """The share of games that each pair finds, both greedy. A program of its own: one serves all stages."""
    look_key, play_key = jax.random.split(jax.random.key(0))
    shown = world.shown(look_key, jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, -1), games))

    def found(pair: Pair, sights: Sights) -> Array:
        seen = views(shown, sights)
        played = dialogue(play_key, pair.teacher, pair.student, seen, rules, greedily, greedily, told=False)
        return jnp.mean(played.found)

    return over_seeds(found)(pairs, sights)


@eqx.filter_jit(**OWN_LOOPS)
def advance(
    stage: Stage,
    config: Config,
    rules: Rules,
    world: World,
    keys: Key[Array, " seeds"],
    pairs: Pair,
    sights: Sights,
    states: Any,
    start: Int[Array, ""],
    iterations: int,
) -> tuple[Any, dict[str, Array]]:
    """Some iterations of a stage for every pair, each batch divided among the processors that JAX knows."""
    part = replace(config, batch=config.batch // processors(config.batch))

    def part_of(
        states: Any, world: World, keys: Array, pairs: Pair, sights: Sights, start: Array
    ) -> tuple[Any, dict[str, Array]]:
        def one(key: Array, pair: Pair, sights: Sights, state: Any) -> tuple[Any, dict[str, Array]]:
            if stage.phase == 0:
                teaching = teaching_of(config, stage.agent)
                step = grounding_step(part, world, teaching) if config.grounded else looking_step(part, world)
            elif stage.agent == "both":
                step = joint_step(part, world, rules, sights)
            elif stage.agent == "teacher":
                step = teacher_step(part, world, rules, pair.student, sights)
            else:
                step = student_step(part, world, rules, pair.teacher, sights)
            return iterate(step, key, state, start, iterations)

        return over_seeds(one)(keys, pairs, sights, states)

    return over_parts(part_of, config.batch)(states, world, keys, pairs, sights, start)


@dataclass(frozen=True)
class Progress:
    """Where training stands after a chunk."""

    stage: Stage
    iteration: int
    done: int
    """Iterations of all stages so far, and in all:"""
    total: int
    info: dict[str, list[float]]
    """The mean of each figure over the chunk, for each pair."""


class Run:
    """A run folder, new or taken up again."""

    def __init__(self, folder: Path, setting: Setting):
        self.folder, self.setting = folder, setting
        config = setting.config
        check_size(config, setting.rules.candidates, setting.space)
        # JAX's cheaper generator: with its usual one a third of the teacher's half would be random numbers.
        self.keys = jax.vmap(lambda seed: jax.random.key(seed, impl="rbg"))(config.seed + jnp.arange(config.seeds))
        looks, messages = setting.world.looks, setting.space.table.shape[1]
        self.stages = stages(config, in_pictures=looks.ndim == 4)
        new = PAIRS[config.method]
        start = over_seeds(lambda key: new(jax.random.fold_in(key, 0), config, looks, messages))
        self.pairs: Pair = placed(eqx.filter_jit(start)(self.keys), config.batch)

    @property
    def metrics(self) -> Metrics:
        return Metrics(self.folder / "metrics.csv", self.setting.config.seeds)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint.safetensors"

    def phase_file(self, phase: int) -> Path:
        return self.folder / f"phase-{phase}.safetensors"

    def begin(self, stage: Stage, pairs: Pair) -> Any:
        config, rules = self.setting.config, self.setting.rules
        states = eqx.filter_jit(over_seeds(lambda pair: begin(stage, pair, config, rules)))(pairs)
        return placed(states, config.batch)

    def _save(self, number: int, iteration: int, pairs: Pair, states: Any) -> None:
        if self.checkpoint.exists():
            self.checkpoint.replace(self.folder / "previous.safetensors")
        save_tree(self.checkpoint, (pairs, states), {"stage": str(number), "iteration": str(iteration)})

    def _restore(self, warn: Callable[[str], None]) -> tuple[int, int, Pair, Any]:
        """The newest whole checkpoint; the start where there is none."""
        config = self.setting.config
        for path in (self.checkpoint, self.folder / "previous.safetensors"):
            if not path.exists():
                continue
            try:
                notes = read_notes(path)
                number, iteration = int(notes["stage"]), int(notes["iteration"])
                if number < 0 or not 0 <= iteration <= self.stages[number].iterations:
                    raise ValueError(f"{path} stands at a place that this run does not have.")
                like = self.pairs, self.begin(self.stages[number], self.pairs)
                return number, iteration, *placed(load_tree(path, like), config.batch)
            except (ValueError, KeyError, IndexError) as problem:
                warn(f"{problem} Going back to the checkpoint before it.")
        return 0, 0, self.pairs, None

    def train(self, warn: Callable[[str], None] = print) -> Iterator[Progress]:
        """Train from where the folder stands to the end, yielding after each chunk."""
        setting, config = self.setting, self.setting.config
        if self.finished:
            try:
                self.pairs = self.pairs_after(config.phases)
                return
            except ValueError as problem:
                warn(f"{problem} Training its last part again.")
        number, iteration, pairs, states = self._restore(warn)
        total = sum(stage.iterations for stage in self.stages)
        self.metrics.cut(number, iteration)
        world = placed(setting.world, config.batch)
        begun = time.monotonic() - self.metrics.seconds()
        done = sum(stage.iterations for stage in self.stages[:number]) + iteration
        events = Events(self.folder / "events", done)
        if (number, iteration) == (0, 0) and all(stage.phase > 0 for stage in self.stages):
            self._snapshot(0, pairs)
        for number in range(number, len(self.stages)):  # noqa: B020
            stage = self.stages[number]
            if states is None:
                iteration, states = 0, self.begin(stage, pairs)
            sights = placed(all_sights(pairs, world.looks), config.batch)
            keys = jax.vmap(lambda key, number=number: jax.random.fold_in(key, 1 + number))(self.keys)
            before = sum(stage.iterations for stage in self.stages[:number])
            while iteration < stage.iterations:
                size = min(CHUNK, stage.iterations - iteration)
                # One program for all phases.
                kind = replace(stage, phase=min(stage.phase, 1))
                states, info = advance(
                    kind, config, setting.rules, world, keys, pairs, sights, states, jnp.asarray(iteration), size
                )
                now = learned(stage, pairs, states)
                fresh = all_sights(now, world.looks) if stage.phase == 0 or config.sight == "end-to-end" else sights
                info["accuracy"] = accuracies(now, fresh, world, setting.validation, setting.rules)
                iteration += size
                figures = {name: [float(x) for x in value] for name, value in info.items()}
                where = Where(number, stage.phase, stage.agent, iteration)
                self.metrics.add(where, figures, time.monotonic() - begun)
                for name, values in figures.items():
                    events.scalar(f"{stage.agent}/{name}", sum(values) / len(values), before + iteration)
                if iteration < stage.iterations:
                    self._save(number, iteration, pairs, states)
                yield Progress(stage, iteration, before + iteration, total, figures)
            pairs, states = learned(stage, pairs, states), None
            later = self.stages[number + 1 :]
            if not later or later[0].phase != stage.phase:
                self._snapshot(stage.phase, pairs)
            if later:
                states = self.begin(later[0], pairs)
                self._save(number + 1, 0, pairs, states)
                iteration = 0
        self.pairs = pairs
        events.close()

    def _snapshot(self, phase: int, pairs: Pair) -> None:
        save_tree(self.phase_file(phase), pairs, {"phase": str(phase), "version": __version__})

    @property
    def finished(self) -> bool:
        return self.phase_file(self.setting.config.phases).exists()

    def pairs_after(self, phase: int) -> Pair:
        """The pairs as they were after a phase, one along each leading index."""
        path = self.phase_file(phase)
        pairs = load_tree(path, self.pairs)
        weights = jax.tree.leaves(eqx.filter(pairs, eqx.is_inexact_array))
        if not all(bool(jnp.all(jnp.isfinite(leaf))) for leaf in weights):
            raise ValueError(f"{path} holds weights that are no numbers: the pair has not learned, train another.")
        return pairs

    def pair(self, phase: int | None = None, index: int = 0) -> Pair:
        pairs = self.pairs_after(self.setting.config.phases if phase is None else phase)
        return jax.tree.map(lambda leaf: leaf[index] if eqx.is_array(leaf) else leaf, pairs)


def start_run(folder: Path, config: Config) -> Run:
    """A new run in an empty or new folder."""
    if (folder / "config.json").exists():
        raise ValueError(f"{folder} holds a run already: go on with --resume, or choose another --out.")
    if there := sorted(name for pattern in FILES for name in folder.glob(pattern)):
        raise ValueError(f"{folder} has a {there[0].name} already, which a run would write over: choose another --out.")
    run = Run(folder, setting_of(config))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        content = {"version": __version__, "config": asdict(config)}
        write_atomic(folder / "config.json", json.dumps(content, indent=2).encode())
    except OSError as problem:
        raise ValueError(f"{folder} cannot be made into a folder ({problem.strerror}): choose another --out.") from None
    return run


def open_run(folder: Path | str) -> Run:
    """A run that exists, finished or not.

    >>> run = implicature.open_run("runs/small")
    >>> run.finished, run.setting.config.game
    (True, 'numbers-4')
    >>> pair = run.pair()  # teacher and student after the last phase; run.pair(0) is before the first
    >>> implicature.evaluate(run, games=200)["games"]
    200
    """
    folder = Path(folder)
    return Run(folder, setting_of(read_config(folder)))

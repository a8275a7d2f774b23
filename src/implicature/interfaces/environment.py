"""The game for PettingZoo: `implicature.env()` (one player acts at a time) and `implicature.parallel_env()`.

Agents are "teacher" and "student". The rules are those of `vectorised`, which this calls; here are names and spaces.

    observation   candidates, in the agent's own order: 0/1 attributes or pictures;  messages: the word of each round
                  plus one, 0 for none yet;  turn: 1 where it is one's own;  target: its position (the teacher alone)
    action        teacher: a message;  student: a candidate in his order, or the last action, which waits
    reward        of both, when the student acts: −cost, and 1 for the target

In the parallel environment, too, a step is one player's: the other's action is not read.
"""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
except ImportError as missing:
    raise ValueError("The environments need PettingZoo: pip install 'implicature[env]'.") from missing

from implicature.games import Game, Rules, Split
from implicature.interfaces.frame import Scene, frame, words
from implicature.interfaces.vectorised import Environment, Observe, State, environment, game_of
from implicature.spaces import Space

TEACHER, STUDENT = "teacher", "student"
RENDER_MODES = ("human", "ansi", "rgb_array")
METADATA: dict[str, Any] = {"name": "implicature_v0", "render_modes": list(RENDER_MODES), "render_fps": 1}


@jax.jit
def _begin(env: Environment, key: jax.Array, game: Game | None) -> tuple:
    state = env.reset(key) if game is None else env.begin(key, game)
    return state, env.teacher_sees(state), env.student_sees(state)


@jax.jit
def _play(env: Environment, state: State, action: jax.Array) -> tuple:
    state, reward, over = env.play(state, action)
    return state, env.teacher_sees(state), env.student_sees(state), reward, over


class Table:
    """The table that both sit at: one game under way, as NumPy arrays and in gymnasium's spaces."""

    def __init__(self, space: Space, env: Environment, render_mode: str | None):
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"No frames are made as {render_mode!r}: choose one of {', '.join(RENDER_MODES)}.")
        self.space, self.env, self.render_mode = space, env, render_mode
        self.random = np.random.default_rng()
        self.actions = {TEACHER: spaces.Discrete(env.messages), STUDENT: spaces.Discrete(env.rules.candidates + 1)}
        self.observations = {agent: self._observations(agent) for agent in (TEACHER, STUDENT)}
        self.state: State | None = None

    def _observations(self, agent: str) -> spaces.Dict:
        rules, pixels = self.env.rules, self.env.looks.dtype == jnp.uint8
        shape, kind, most = (
            (rules.candidates, *self.env.looks.shape[2:]),
            *((np.uint8, 255) if pixels else (np.int8, 1)),
        )
        seen: dict[str, spaces.Space] = {
            "candidates": spaces.Box(0, most, shape, kind),
            "messages": spaces.MultiDiscrete([self.env.messages + 1] * rules.rounds),
            "turn": spaces.Discrete(2),
        }
        return spaces.Dict({**seen, "target": spaces.Discrete(rules.candidates)} if agent == TEACHER else seen)

    def begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """A game by chance; or where options tell its candidates (instances), that one, with their target and order."""
        if seed is not None:
            self.random = np.random.default_rng(seed)
        key = jax.random.key(int(self.random.integers(2**31)))
        told = options is not None and "candidates" in options
        seen = _begin(self.env, key, game_from(options, self.env.rules, self.space) if told else None)
        self.state, self.hers, self.his = jax.device_get(seen)
        self.gain, self.over = 0.0, False

    @property
    def turn(self) -> str:
        assert self.state is not None
        return TEACHER if self.state.speaking else STUDENT

    def play(self, action: Any) -> float:
        """The action of whose turn it is; what it brings to both."""
        if not self.actions[self.turn].contains(action):
            most = self.actions[self.turn].n - 1
            raise ValueError(f"The {self.turn} cannot do {action!r}: choose a whole number from 0 to {most}.")
        played = jax.device_get(_play(self.env, self.state, np.asarray(action, np.int32)))
        self.state, self.hers, self.his, reward, over = played
        self.gain, self.over = self.gain + float(reward), bool(over)
        if self.render_mode == "human":
            self.render()
        return float(reward)

    def observe(self, agent: str) -> dict[str, Any]:
        sees = self.hers if agent == TEACHER else self.his
        seen = {
            "candidates": sees.candidates.astype(self.observations[agent]["candidates"].dtype),
            "messages": sees.messages.astype(np.int64) + 1,
            "turn": np.int64(not self.over and self.turn == agent),
        }
        return {**seen, "target": np.int64(self.hers.target)} if agent == TEACHER else seen

    def info(self, agent: str) -> dict[str, Any]:
        """Which actions make sense: in the last round there is nothing to wait for."""
        mask = np.ones(int(self.actions[agent].n), np.int8)
        if agent == STUDENT and self.state is not None and self.state.round >= self.env.rules.rounds - 1:
            mask[-1] = 0
        return {"action_mask": mask}

    def render(self) -> Any:
        if self.state is None or self.render_mode is None:
            raise ValueError("There is nothing to show yet: choose a render_mode, and reset first.")
        state, game = self.state, self.state.game
        labels = [self.space.label(int(instance)) for instance in game.candidates]
        said = [self.space.attributes[m] for m in state.messages if m >= 0]
        answer = None if state.answer < 0 else int(state.answer)
        pictures = self.hers.candidates if self.hers.candidates.dtype == np.uint8 else None
        scene = Scene(labels, int(game.target), said, answer, self.over, self.gain, pictures)
        if self.render_mode == "rgb_array":
            return frame(scene)
        if self.render_mode == "ansi":
            return words(scene)
        print(words(scene))
        return None


def game_from(options: dict[str, Any], rules: Rules, space: Space) -> Game:
    """The game that reset's options tell."""
    number = rules.candidates
    try:
        candidates = np.asarray(options["candidates"], np.int32)
        target = int(options.get("target", 0))
        order = np.asarray(options.get("order", range(number)), np.int32)
        right = candidates.shape == (number,) and len(set(candidates.tolist())) == number and 0 <= target < number
        right = right and candidates.min() >= 0 and candidates.max() < space.instances
        right = right and sorted(order.tolist()) == list(range(number))
    except (KeyError, TypeError, ValueError):
        right = False
    if not right:
        raise ValueError(
            f"These options tell no game: give {number} different instances as candidates, below {space.instances}, "
            f"the position of the target among them, and the student's order of 0 to {number - 1}."
        )
    return Game(jnp.asarray(candidates), jnp.asarray(target), jnp.asarray(order))


class TurnGame(AECEnv):
    """One player acts at a time (PettingZoo's AEC)."""

    metadata = {**METADATA, "is_parallelizable": False}

    def __init__(self, table: Table):
        super().__init__()
        self.table, self.render_mode = table, table.render_mode
        self.possible_agents = [TEACHER, STUDENT]
        self.observation_spaces, self.action_spaces = table.observations, table.actions

    def observation_space(self, agent: str) -> spaces.Space:
        return self.table.observations[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.table.actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.table.begin(seed, options)
        self.agents = self.possible_agents[:]
        self.agent_selection = TEACHER
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = {agent: self.table.info(agent) for agent in self.agents}

    def observe(self, agent: str) -> dict[str, Any]:
        return self.table.observe(agent)

    def step(self, action: Any) -> None:
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.rewards = dict.fromkeys(self.agents, self.table.play(action))
        self.terminations = dict.fromkeys(self.agents, self.table.over)
        self.infos = {agent: self.table.info(agent) for agent in self.agents}
        self.agent_selection = self.table.turn
        self._accumulate_rewards()

    def render(self) -> Any:
        return self.table.render()

    def close(self) -> None:
        """There is nothing to close: frames are made without a window."""


class SideBySide(ParallelEnv):
    """Both act in every step, but only one's turn it is."""

    metadata = METADATA

    def __init__(self, table: Table):
        self.table, self.render_mode = table, table.render_mode
        self.possible_agents = [TEACHER, STUDENT]
        self.agents: list[str] = []
        self.observation_spaces, self.action_spaces = table.observations, table.actions

    def observation_space(self, agent: str) -> spaces.Space:
        return self.table.observations[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.table.actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        self.table.begin(seed, options)
        self.agents = self.possible_agents[:]
        return self._each(self.table.observe), self._each(self.table.info)

    def _each(self, function: Any) -> dict[str, Any]:
        return {agent: function(agent) for agent in self.possible_agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        table = self.table
        if not self.agents:
            return {}, {}, {}, {}, {}
        reward = table.play(actions[table.turn])
        self.agents = [] if table.over else self.agents
        same = dict.fromkeys
        both = self.possible_agents
        return (
            self._each(table.observe),
            same(both, reward),
            same(both, table.over),
            same(both, False),
            self._each(table.info),
        )

    def render(self) -> Any:
        return self.table.render()

    def close(self) -> None:
        """There is nothing to close: frames are made without a window."""


def _table(
    game: str = "numbers-4",
    *,
    space: Space | Path | str | None = None,
    candidates: int | None = None,
    rounds: int = 1,
    message_cost: float = 0.0,
    split: Split = "train",
    observe: Observe = "symbols",
    games: int = 20_000,
    render_mode: str | None = None,
) -> Table:
    of, number = game_of(game, space, candidates)
    return Table(of, environment(of, Rules(number, rounds, message_cost), split, observe, games), render_mode)


def env(game: str = "numbers-4", **options: Any) -> TurnGame:
    """The game for PettingZoo's AEC API. Options: space and candidates (a game of one's own), rounds, message_cost,
    split ("train", "validation", "test"), observe ("symbols", "pixels"), games (drawn in advance), render_mode."""
    return TurnGame(_table(game, **options))


def parallel_env(game: str = "numbers-4", **options: Any) -> SideBySide:
    """The game for PettingZoo's parallel API, with the same options."""
    return SideBySide(_table(game, **options))

"""The game for PettingZoo: `implicature.env()` (one player acts at a time) and `implicature.parallel_env()`.

Agents are "teacher" and "student". What a round is worth and when a game ends is `Rules.judge`, as in `dialogue`.

    observation   candidates, in the agent's own order: 0/1 attributes or pictures;  messages: the word of each round
                  plus one, 0 for none yet;  turn: 1 where it is one's own;  target: its position (the teacher alone)
    action        teacher: a message;  student: a candidate in his order, or the last action, which waits
    reward        of both, when the student acts: −cost, and 1 for the target

In the parallel environment, too, a step is one player's: the other's action is not read.
"""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
except ImportError as missing:
    raise ValueError("The environments need PettingZoo: pip install 'implicature[env]'.") from missing

from implicature.games import Rules, Split
from implicature.interfaces.frame import Scene, frame, words
from implicature.interfaces.vectorised import Environment, Observe, environment, game_of
from implicature.spaces import Space

TEACHER, STUDENT = "teacher", "student"
RENDER_MODES = ("human", "ansi", "rgb_array")
METADATA: dict[str, Any] = {"name": "implicature_v0", "render_modes": list(RENDER_MODES), "render_fps": 1}


class Table:
    """The table that both sit at: one game under way, in NumPy and gymnasium's spaces, as a step of one game alone is
    quicker outside a compiled program."""

    def __init__(self, space: Space, env: Environment, render_mode: str | None):
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"No frames are made as {render_mode!r}: choose one of {', '.join(RENDER_MODES)}.")
        self.space, self.rules, self.render_mode = space, env.rules, render_mode
        self.looks = np.asarray(env.looks)
        if self.looks.dtype != np.uint8:
            self.looks = self.looks.astype(np.int8)
        self.games = tuple(np.asarray(leaf) for leaf in (env.games.candidates, env.games.target, env.games.order))
        self.random = np.random.default_rng()
        self.actions: dict[str, spaces.Space] = {
            TEACHER: spaces.Discrete(env.messages),
            STUDENT: spaces.Discrete(env.rules.candidates + 1),
        }
        self.observations: dict[str, spaces.Space] = {agent: self._seen(agent) for agent in (TEACHER, STUDENT)}
        self.begun = False

    def _seen(self, agent: str) -> spaces.Space:
        rules, kind = self.rules, self.looks.dtype
        shape, words = (rules.candidates, *self.looks.shape[2:]), len(self.space.attributes) + 1
        seen: dict[str, spaces.Space] = {
            "candidates": spaces.Box(0, 255 if kind == np.uint8 else 1, shape, kind.type),
            "messages": spaces.MultiDiscrete([words] * rules.rounds),
            "turn": spaces.Discrete(2),
        }
        return spaces.Dict({**seen, "target": spaces.Discrete(rules.candidates)} if agent == TEACHER else seen)

    def begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """A game by chance; or where options tell its candidates (instances), that one, with their target and order."""
        if seed is not None:
            self.random = np.random.default_rng(seed)
        if options is not None and "candidates" in options:
            game = game_from(options, self.rules, self.space)
        else:
            row = self.random.integers(len(self.games[1]))
            game = tuple(leaf[row] for leaf in self.games)
        self.candidates, self.target, self.order = game
        hers, his = self.random.integers(self.looks.shape[1], size=(2, self.rules.candidates))
        self.seen = {
            TEACHER: self.looks[self.candidates, hers],
            STUDENT: self.looks[self.candidates[self.order], his],
        }
        self.messages = np.full(self.rules.rounds, -1, np.int64)
        self.answer: int | None = None
        self.round, self.turn, self.gain, self.over, self.begun = 0, TEACHER, 0.0, False, True

    def play(self, action: Any) -> float:
        """The action of whose turn it is; what it brings to both."""
        if not self.actions[self.turn].contains(action):
            most = len(self.info(self.turn)["action_mask"]) - 1
            raise ValueError(f"The {self.turn} cannot do {action!r}: choose a whole number from 0 to {most}.")
        reward = 0.0
        if self.turn == TEACHER:
            self.messages[self.round], self.answer, self.turn = action, None, STUDENT
        else:
            self.answer = int(action if action == self.rules.wait else self.order[action])
            worth, over = self.rules.judge(self.answer, int(self.target), self.round)
            reward, self.over = float(worth), bool(over)
            self.round, self.turn, self.gain = self.round + 1, TEACHER, self.gain + reward
        if self.render_mode == "human":
            self.render()
        return reward

    def observe(self, agent: str) -> dict[str, Any]:
        seen = {
            "candidates": self.seen[agent],
            "messages": self.messages + 1,
            "turn": np.int64(not self.over and self.turn == agent),
        }
        return {**seen, "target": np.int64(self.target)} if agent == TEACHER else seen

    def info(self, agent: str) -> dict[str, Any]:
        """Which actions make sense: in the last round there is nothing to wait for."""
        mask = np.ones(len(self.space.attributes) if agent == TEACHER else self.rules.candidates + 1, np.int8)
        if agent == STUDENT and self.round >= self.rules.rounds - 1:
            mask[-1] = 0
        return {"action_mask": mask}

    def render(self) -> Any:
        if not self.begun or self.render_mode is None:
            raise ValueError("There is nothing to show yet: choose a render_mode, and reset first.")
        labels = [self.space.label(int(instance)) for instance in self.candidates]
        said = [self.space.attributes[m] for m in self.messages if m >= 0]
        pictures = self.seen[TEACHER] if self.looks.dtype == np.uint8 else None
        scene = Scene(labels, int(self.target), said, self.answer, self.over, self.gain, pictures)
        if self.render_mode == "rgb_array":
            return frame(scene)
        if self.render_mode == "ansi":
            return words(scene)
        print(words(scene))
        return None


def game_from(options: dict[str, Any], rules: Rules, space: Space) -> tuple[np.ndarray, int, np.ndarray]:
    """The game that reset's options tell."""
    number = rules.candidates
    try:
        candidates = np.asarray(options["candidates"], np.int32)
        target = int(options["target"])
        order = np.asarray(options["order"], np.int32)
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
    return candidates, target, order


class TurnGame(AECEnv):
    """One player acts at a time (PettingZoo's AEC)."""

    metadata: ClassVar[dict[str, Any]] = {**METADATA, "is_parallelizable": False}

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

    metadata: ClassVar[dict[str, Any]] = METADATA

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

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

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
except ImportError as missing:
    raise ValueError("The environments need PettingZoo: pip install 'implicature[env]'.") from missing

from implicature.envs.episode import RENDER_MODES, STUDENT, TEACHER, Table
from implicature.envs.jax_env import game_of, jax_env
from implicature.spaces import Space

METADATA: dict[str, Any] = {"name": "implicature_v0", "render_modes": list(RENDER_MODES), "render_fps": 1}


class TurnGame(AECEnv):
    """One player acts at a time (PettingZoo's AEC)."""

    metadata: ClassVar[dict[str, Any]] = {**METADATA, "is_parallelizable": False}

    def __init__(self, table: Table):
        super().__init__()
        self.table, self.render_mode = table, table.render_mode
        self.possible_agents = [TEACHER, STUDENT]
        self.observation_spaces, self.action_spaces = table.observations, {**table.actions}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.table.observations[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
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
        self.observation_spaces, self.action_spaces = table.observations, {**table.actions}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.table.observations[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
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
    game: str,
    *,
    space: Space | Path | str | None = None,
    candidates: int | None = None,
    games: int = 20_000,
    render_mode: str | None = None,
    **options: Any,
) -> Table:
    of, number = game_of(game, space, candidates)
    return Table(of, jax_env(space=of, candidates=number, games=games, **options), render_mode)


def env(game: str = "numbers-4", **options: Any) -> TurnGame:
    """The game for PettingZoo's AEC API. Options: space and candidates (a game of one's own), rounds, message_cost,
    split ("train", "validation", "test"), observe ("symbols", "pixels"), games (drawn in advance), render_mode.

    >>> game = implicature.env("numbers-4", rounds=2, message_cost=0.1, games=100)
    >>> game.reset(seed=0)
    >>> game.agent_selection, game.action_space("teacher"), game.action_space("student")  # five: four and waiting
    ('teacher', Discrete(10), Discrete(5))
    """
    return TurnGame(_table(game, **options))


def parallel_env(game: str = "numbers-4", **options: Any) -> SideBySide:
    """The game for PettingZoo's parallel API, with the same options.

    >>> game = implicature.parallel_env(space="examples/kitchen.csv", candidates=3, games=100)
    >>> seen, _ = game.reset(seed=0)
    >>> seen["student"]["candidates"].shape
    (3, 16)
    """
    return SideBySide(_table(game, **options))

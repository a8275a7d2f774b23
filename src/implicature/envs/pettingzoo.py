"""The game for PettingZoo: `implicature.env()` (one player acts at a time) and `implicature.parallel_env()`.

Agents are "teacher" and "student". What a round is worth and when a game ends is `Rules.score`, as in `rollout`.

    observation   candidates, in the agent's own order: 0/1 attributes or images;  messages: the word of each round
                  plus one, 0 for none yet;  turn: 1 where it is one's own;  target: its position (the teacher alone)
    action        teacher: a message;  student: a candidate in his order, or the last action, which waits
    reward        of both, when the student acts: −cost, and 1 for the target

In the parallel environment, too, a step is one player's: the other's action is not read. In the appointment game
agents are "player_0", who begins, and "player_1" (envs/appointment/).
"""

from pathlib import Path
from typing import Any, ClassVar

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
except ImportError as missing:
    raise ValueError("The environments need PettingZoo: pip install 'implicature[env]'.") from missing

from implicature.envs.appointment.episode import AppointmentEpisode
from implicature.envs.appointment.jax_env import appointment_environment
from implicature.envs.episode import RENDER_MODES, Episode
from implicature.envs.jax_env import jax_env
from implicature.games.registry import APPOINTMENT, default_contexts, load_game
from implicature.games.rules import Contexts
from implicature.spaces import Space

METADATA: dict[str, Any] = {"name": "implicature_v0", "render_modes": list(RENDER_MODES), "render_fps": 1}
GAMES = 20_000
"""Drawn in advance."""
AnyEpisode = Episode | AppointmentEpisode


class TurnEnv(AECEnv):
    """One player acts at a time (PettingZoo's AEC)."""

    metadata: ClassVar[dict[str, Any]] = {**METADATA, "is_parallelizable": False}

    def __init__(self, episode: AnyEpisode):
        super().__init__()
        self.episode, self.render_mode = episode, episode.render_mode
        self.possible_agents = [*episode.agents]
        self.observation_spaces, self.action_spaces = episode.observation_spaces, {**episode.action_spaces}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.episode.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self.episode.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.episode.reset(seed, options)
        self.agents = self.possible_agents[:]
        self.agent_selection = self.episode.turn
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = {agent: self.episode.info(agent) for agent in self.agents}

    def observe(self, agent: str) -> dict[str, Any]:
        return self.episode.observe(agent)

    def step(self, action: Any) -> None:
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.rewards = dict.fromkeys(self.agents, self.episode.step(action))
        self.terminations = dict.fromkeys(self.agents, self.episode.over)
        self.infos = {agent: self.episode.info(agent) for agent in self.agents}
        self.agent_selection = self.episode.turn
        self._accumulate_rewards()

    def render(self) -> Any:
        return self.episode.render()

    def close(self) -> None:
        """There is nothing to close: frames are made without a window."""


class SimultaneousEnv(ParallelEnv):
    """Both act in every step, but only one's turn it is."""

    metadata: ClassVar[dict[str, Any]] = METADATA

    def __init__(self, episode: AnyEpisode):
        self.episode, self.render_mode = episode, episode.render_mode
        self.possible_agents = [*episode.agents]
        self.agents: list[str] = []
        self.observation_spaces, self.action_spaces = episode.observation_spaces, {**episode.action_spaces}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.episode.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self.episode.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        self.episode.reset(seed, options)
        self.agents = self.possible_agents[:]
        return self._each(self.episode.observe), self._each(self.episode.info)

    def _each(self, function: Any) -> dict[str, Any]:
        return {agent: function(agent) for agent in self.possible_agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        episode = self.episode
        if not self.agents:
            return {}, {}, {}, {}, {}
        reward = episode.step(actions[episode.turn])
        self.agents = [] if episode.over else self.agents
        both, same = self.possible_agents, dict.fromkeys
        return (
            self._each(episode.observe),
            same(both, reward),
            same(both, episode.over),
            same(both, False),
            self._each(episode.info),
        )

    def render(self) -> Any:
        return self.episode.render()

    def close(self) -> None:
        """There is nothing to close: frames are made without a window."""


def _new_episode(
    game: str,
    *,
    space: Space | Path | str | None = None,
    candidates: int | None = None,
    games: int | None = None,
    contexts: Contexts | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> AnyEpisode:
    if game == APPOINTMENT and space is None:
        drawn = appointment_environment(candidates=candidates, games=games, contexts=contexts, **options)
        return AppointmentEpisode(drawn, render_mode)
    loaded, number = load_game(game, space, candidates)
    drawn_from = contexts or default_contexts(game, space)
    env = jax_env(space=loaded, candidates=number, games=games or GAMES, contexts=drawn_from, **options)
    return Episode(loaded, env, render_mode)


def env(game: str = "numbers-4", **options: Any) -> TurnEnv:
    """The game for PettingZoo's AEC API. Options: space and candidates (a game of one's own), rounds, message_cost,
    contexts ("random", "near"), split ("train", "validation", "test"), observe ("attributes", "images"), games (drawn
    in advance), render_mode. Those of the game "appointment" are rounds, message_cost, split ("train", "test", "all"),
    split_seed, slots, render_mode.

    >>> game = implicature.env("numbers-4", rounds=2, message_cost=0.1, games=100)
    >>> game.reset(seed=0)
    >>> game.agent_selection, game.action_space("teacher"), game.action_space("student")  # five: four and waiting
    ('teacher', Discrete(10), Discrete(5))
    """
    return TurnEnv(_new_episode(game, **options))


def parallel_env(game: str = "numbers-4", **options: Any) -> SimultaneousEnv:
    """The game for PettingZoo's parallel API, with the same options.

    >>> game = implicature.parallel_env(space="examples/kitchen.csv", candidates=3, games=100)
    >>> seen, _ = game.reset(seed=0)
    >>> seen["student"]["candidates"].shape
    (3, 16)
    """
    return SimultaneousEnv(_new_episode(game, **options))

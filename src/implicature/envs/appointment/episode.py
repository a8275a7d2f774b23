"""One appointment game under way, for PettingZoo. In NumPy: a step of one game is faster outside a compiled program."""

from typing import Any

import numpy as np
from gymnasium import spaces

from implicature.envs.appointment.frame import AppointmentScene, render_image, render_text
from implicature.envs.appointment.jax_env import AppointmentEnvironment
from implicature.envs.episode import check_render_mode
from implicature.games.appointment import AppointmentRules, run_name, runs

PLAYERS = ("player_0", "player_1")


class AppointmentEpisode:
    """The state of a game, and what each player may observe of it."""

    agents = PLAYERS

    def __init__(self, env: AppointmentEnvironment, render_mode: str | None):
        check_render_mode(render_mode)
        self.rules, self.render_mode = env.rules, render_mode
        self.drawn = np.asarray(env.calendars)
        self.random = np.random.default_rng()
        self.action_spaces: dict[str, spaces.Discrete] = {
            player: spaces.Discrete(self.rules.actions) for player in PLAYERS
        }
        self.observation_spaces: dict[str, spaces.Space] = {
            player: spaces.Dict(
                {
                    "calendar": spaces.MultiBinary(self.rules.slots),
                    "messages": spaces.MultiDiscrete([self.rules.n_messages + 1] * self.rules.messages),
                    "turn": spaces.Discrete(2),
                }
            )
            for player in PLAYERS
        }
        self.started = False

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Random calendars; or those that `options` give."""
        if seed is not None:
            self.random = np.random.default_rng(seed)
        if options is not None and "calendars" in options:
            self.calendars = parse_calendars(options["calendars"], self.rules)
        else:
            self.calendars = self.drawn[self.random.integers(len(self.drawn), size=len(PLAYERS))]
        self.messages = np.full(self.rules.messages, -1, np.int64)
        self.answer: int | None = None
        self.said, self.episode_return, self.over, self.right, self.started = 0, 0.0, False, False, True
        self.broken: str | None = None

    @property
    def turn(self) -> str:
        return PLAYERS[self.said % len(PLAYERS)]

    def step(self, action: Any) -> float:
        """The action of the player whose turn it is; the reward of both."""
        if not self.action_spaces[self.turn].contains(action):
            raise ValueError(
                f"{self.turn} cannot do {action!r}: choose a whole number from 0 to {self.rules.actions - 1}."
            )
        mover = self.said % len(PLAYERS)
        own, other = self.calendars[mover], self.calendars[1 - mover]
        value, over = self.rules.act(int(action), own, other, self.said)
        reward, self.over = float(value), bool(over)
        self.episode_return += reward
        if action >= self.rules.n_messages:
            self.answer, self.right = int(action) - self.rules.n_messages, reward > 0
        elif self.over:
            self.broken = run_name(runs(self.rules.slots)[int(action)])
        else:
            self.messages[self.said] = action
            self.said += 1
        if self.render_mode == "human":
            self.render()
        return reward

    def observe(self, player: str) -> dict[str, Any]:
        return {
            "calendar": self.calendars[PLAYERS.index(player)].astype(np.int8),
            "messages": self.messages + 1,
            "turn": np.int64(not self.over and self.turn == player),
        }

    def info(self, player: str) -> dict[str, Any]:
        """Which actions are within the rules: no message that is untrue, or one too many."""
        sayable = self.rules.sayable(self.calendars[PLAYERS.index(player)], self.said)
        answers = np.ones(self.rules.actions - self.rules.n_messages, bool)
        return {"action_mask": np.concatenate([sayable, answers]).astype(np.int8)}

    def render(self) -> Any:
        if not self.started or self.render_mode is None:
            raise ValueError("There is nothing to show yet: choose a render_mode, and reset first.")
        names = [run_name(runs(self.rules.slots)[m]) for m in self.messages[: self.said]]
        names += [] if self.broken is None else [self.broken]
        scene = AppointmentScene(
            PLAYERS, self.calendars, tuple(names), self.answer, self.over, self.right, self.episode_return
        )
        if self.render_mode == "rgb_array":
            return render_image(scene)
        if self.render_mode == "ansi":
            return render_text(scene)
        print(render_text(scene))
        return None


def parse_calendars(given: Any, rules: AppointmentRules) -> np.ndarray:
    """The two calendars in reset's options: lists of 0 and 1."""
    try:
        held = np.asarray(given)
        valid = held.shape == (len(PLAYERS), rules.slots) and np.isin(held, (0, 1)).all() and held.any(axis=1).all()
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise ValueError(
            f"These options are no game: give two calendars of {rules.slots} slots, 1 for busy and 0 for free, with at "
            "least one slot busy in each."
        )
    return held.astype(bool)

"""The table that teacher and student sit at: one game under way, for PettingZoo."""

from typing import Any

import numpy as np
from gymnasium import spaces

from implicature.envs.frame import Scene, frame, words
from implicature.envs.jax_env import Environment
from implicature.games.sampling import Rules
from implicature.spaces import Space

TEACHER, STUDENT = "teacher", "student"
RENDER_MODES = ("human", "ansi", "rgb_array")


class Table:
    """In NumPy and gymnasium's spaces: a step of one game alone is quicker outside a compiled program."""

    def __init__(self, space: Space, env: Environment, render_mode: str | None):
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"No frames are made as {render_mode!r}: choose one of {', '.join(RENDER_MODES)}.")
        self.space, self.rules, self.render_mode = space, env.rules, render_mode
        self.looks = np.asarray(env.looks)
        if self.looks.dtype != np.uint8:
            self.looks = self.looks.astype(np.int8)
        self.games = tuple(np.asarray(leaf) for leaf in (env.games.candidates, env.games.target, env.games.order))
        self.random = np.random.default_rng()
        self.actions: dict[str, spaces.Discrete] = {
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

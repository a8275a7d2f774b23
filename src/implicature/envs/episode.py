"""One game under way, for PettingZoo. In NumPy: a step of one game is faster outside a compiled program."""

from typing import Any

import numpy as np
from gymnasium import spaces

from implicature.envs.frame import Scene, render_image, render_text
from implicature.envs.jax_env import Environment
from implicature.games.rules import Rules
from implicature.spaces import Space

TEACHER, STUDENT = "teacher", "student"
RENDER_MODES = ("human", "ansi", "rgb_array")


def check_render_mode(render_mode: str | None) -> None:
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(f"render_mode {render_mode!r} is unknown: choose one of {', '.join(RENDER_MODES)}.")


class Episode:
    """The state of a game, and what each agent may observe of it."""

    agents = (TEACHER, STUDENT)

    def __init__(self, space: Space, env: Environment, render_mode: str | None):
        check_render_mode(render_mode)
        self.space, self.rules, self.render_mode = space, env.rules, render_mode
        self.images_or_attributes = np.asarray(env.observations)
        if self.images_or_attributes.dtype != np.uint8:
            self.images_or_attributes = self.images_or_attributes.astype(np.int8)
        self.games = tuple(np.asarray(leaf) for leaf in (env.games.candidates, env.games.target, env.games.order))
        self.random = np.random.default_rng()
        self.action_spaces: dict[str, spaces.Discrete] = {
            TEACHER: spaces.Discrete(env.messages),
            STUDENT: spaces.Discrete(env.rules.candidates + 1),
        }
        self.observation_spaces: dict[str, spaces.Space] = {
            agent: self._observation_space(agent) for agent in (TEACHER, STUDENT)
        }
        self.started = False

    def _observation_space(self, agent: str) -> spaces.Space:
        rules, kind = self.rules, self.images_or_attributes.dtype
        shape, messages = (rules.candidates, *self.images_or_attributes.shape[2:]), len(self.space.words) + 1
        observation: dict[str, spaces.Space] = {
            "candidates": spaces.Box(0, 255 if kind == np.uint8 else 1, shape, kind.type),
            "messages": spaces.MultiDiscrete([messages] * rules.rounds),
            "turn": spaces.Discrete(2),
        }
        return spaces.Dict(
            {**observation, "target": spaces.Discrete(rules.candidates)} if agent == TEACHER else observation
        )

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """A random game; or the one that `options` give: candidates (instances), target and order."""
        if seed is not None:
            self.random = np.random.default_rng(seed)
        if options is not None and "candidates" in options:
            game = parse_game(options, self.rules, self.space)
        else:
            row = self.random.integers(len(self.games[1]))
            game = tuple(leaf[row] for leaf in self.games)
        self.candidates, self.target, self.order = game
        teacher_views, student_views = self.random.integers(
            self.images_or_attributes.shape[1], size=(2, self.rules.candidates)
        )
        self.visible = {
            TEACHER: self.images_or_attributes[self.candidates, teacher_views],
            STUDENT: self.images_or_attributes[self.candidates[self.order], student_views],
        }
        self.messages = np.full(self.rules.rounds, -1, np.int64)
        self.answer: int | None = None
        self.round, self.turn, self.episode_return, self.over, self.started = 0, TEACHER, 0.0, False, True

    def step(self, action: Any) -> float:
        """The action of the agent whose turn it is; the reward of both."""
        if not self.action_spaces[self.turn].contains(action):
            most = len(self.info(self.turn)["action_mask"]) - 1
            raise ValueError(f"The {self.turn} cannot do {action!r}: choose a whole number from 0 to {most}.")
        reward = 0.0
        if self.turn == TEACHER:
            self.messages[self.round], self.answer, self.turn = action, None, STUDENT
        else:
            self.answer = int(action if action == self.rules.wait else self.order[action])
            round_reward, over = self.rules.score(self.answer, int(self.target), self.round)
            reward, self.over = float(round_reward), bool(over)
            self.round, self.turn, self.episode_return = self.round + 1, TEACHER, self.episode_return + reward
        if self.render_mode == "human":
            self.render()
        return reward

    def observe(self, agent: str) -> dict[str, Any]:
        observation = {
            "candidates": self.visible[agent],
            "messages": self.messages + 1,
            "turn": np.int64(not self.over and self.turn == agent),
        }
        return {**observation, "target": np.int64(self.target)} if agent == TEACHER else observation

    def info(self, agent: str) -> dict[str, Any]:
        """Which actions make sense: in the last round there is nothing to wait for."""
        mask = np.ones(len(self.space.words) if agent == TEACHER else self.rules.candidates + 1, np.int8)
        if agent == STUDENT and self.round >= self.rules.rounds - 1:
            mask[-1] = 0
        return {"action_mask": mask}

    def render(self) -> Any:
        if not self.started or self.render_mode is None:
            raise ValueError("There is nothing to show yet: choose a render_mode, and reset first.")
        labels = [self.space.label(int(instance)) for instance in self.candidates]
        messages = [self.space.words[m] for m in self.messages if m >= 0]
        images = self.visible[TEACHER] if self.images_or_attributes.dtype == np.uint8 else None
        scene = Scene(labels, int(self.target), messages, self.answer, self.over, self.episode_return, images)
        if self.render_mode == "rgb_array":
            return render_image(scene)
        if self.render_mode == "ansi":
            return render_text(scene)
        print(render_text(scene))
        return None


def parse_game(options: dict[str, Any], rules: Rules, space: Space) -> tuple[np.ndarray, int, np.ndarray]:
    """The game in reset's options."""
    number = rules.candidates
    try:
        candidates = np.asarray(options["candidates"], np.int32)
        target = int(options["target"])
        order = np.asarray(options["order"], np.int32)
        valid = candidates.shape == (number,) and len(set(candidates.tolist())) == number and 0 <= target < number
        valid = valid and candidates.min() >= 0 and candidates.max() < space.instances
        valid = valid and sorted(order.tolist()) == list(range(number))
    except (KeyError, TypeError, ValueError):
        valid = False
    if not valid:
        raise ValueError(
            f"These options are no game: give {number} different instances as candidates, below {space.instances}, "
            f"the position of the target among them, and the student's order of 0 to {number - 1}."
        )
    return candidates, target, order

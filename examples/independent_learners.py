"""Two independent PPO learners of an outside library play `implicature.parallel_env()`, starting from nothing.

Each takes the other for a part of the world, without a model of its mind. The library is skrl, which has independent
PPO (IPPO) and works on JAX, so that it needs no PyTorch:  pip install 'implicature[learners]'
"""

# pyright: reportMissingImports=false

import sys
import time
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from skrl import config
from skrl.envs.wrappers.jax import MultiAgentEnvWrapper
from skrl.memories.jax import RandomMemory
from skrl.models.jax import CategoricalMixin, DeterministicMixin, Model
from skrl.multi_agents.jax import ExperimentCfg
from skrl.multi_agents.jax.ippo import IPPO, IPPO_CFG
from skrl.trainers.jax import SequentialTrainer

import implicature

KITCHEN = Path(__file__).with_name("kitchen.csv")
PARTS = ("learning_rate_scheduler", "observation_preprocessor", "state_preprocessor", "value_preprocessor")
ENVIRONMENTS = 128
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_500


class Policy(CategoricalMixin, Model):
    """A logit for each action; products in the hidden layer, as meaning is what message and candidate share."""

    def __init__(self, **given):
        Model.__init__(self, **given)
        CategoricalMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        seen = inputs["observations"]
        hidden = nn.tanh(nn.Dense(128)(seen) * nn.Dense(128)(seen))
        return nn.Dense(self.num_actions)(hidden), {}


class Value(DeterministicMixin, Model):
    def __init__(self, **given):
        Model.__init__(self, **given)
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        return nn.Dense(1)(nn.tanh(nn.Dense(64)(inputs["observations"]))), {}


class Many(MultiAgentEnvWrapper):
    """Several PettingZoo environments as one of skrl's, each observation a row of numbers, symbols in one-hot code; a
    game that is over gives way to the next."""

    num_envs = property(lambda self: len(self.tables))
    observation_spaces = property(lambda self: {a: spaces.flatten_space(s) for a, s in self.seen.items()})

    def __init__(self, split: str):
        self.tables = [implicature.parallel_env(space=KITCHEN, candidates=2, split=split) for _ in range(ENVIRONMENTS)]
        self.seen, self.found = self.tables[0].observation_spaces, []
        super().__init__(self.tables[0])

    def _flat(self, seen):
        rows = {a: [spaces.flatten(space, one[a]) for one in seen] for a, space in self.seen.items()}
        return {agent: jnp.asarray(np.array(each, np.float32)) for agent, each in rows.items()}

    def reset(self):
        return self._flat([table.reset(seed=i)[0] for i, table in enumerate(self.tables)]), {}

    def step(self, actions):
        chosen = {agent: np.asarray(each).ravel().astype(int) for agent, each in actions.items()}
        seen, told = [], []
        for i, table in enumerate(self.tables):
            observations, rewards, over, _, _ = table.step({agent: chosen[agent][i] for agent in chosen})
            if over["student"]:
                self.found.append(rewards["student"])
                observations, _ = table.reset()
            seen.append(observations)
            told.append((rewards["student"], over["student"], False))
        same = [dict.fromkeys(self.seen, jnp.asarray(each, jnp.float32)[:, None]) for each in zip(*told, strict=True)]
        return self._flat(seen), *same, {}

    def state(self):
        return dict.fromkeys(self.seen)

    def render(self):
        return self.tables[0].render()

    def close(self):
        pass


def learners(env: Many) -> IPPO:
    models = {}
    for agent in env.possible_agents:
        given = {"observation_space": env.observation_spaces[agent], "action_space": env.action_spaces[agent]}
        models[agent] = {"policy": Policy(**given), "value": Value(**given)}
        for role, model in models[agent].items():
            model.init_state_dict(role=role)
    # skrl 2.1 does not fill these in for several agents by itself.
    options: dict[str, Any] = {f"{part}_kwargs": {agent: {} for agent in env.possible_agents} for part in PARTS}
    return IPPO(
        possible_agents=env.possible_agents,
        models=models,
        memories={a: RandomMemory(memory_size=16, num_envs=env.num_envs) for a in env.possible_agents},
        observation_spaces=env.observation_spaces,
        action_spaces=env.action_spaces,
        state_spaces=env.state_spaces,  # pyright: ignore[reportArgumentType]
        cfg=IPPO_CFG(
            rollouts=16,
            learning_epochs=4,
            learning_rate=3e-3,
            discount_factor=1.0,
            experiment=ExperimentCfg(write_interval=0, checkpoint_interval=0),
            **options,
        ),
    )


if __name__ == "__main__":
    config.jax.key = 0
    begun, env = time.monotonic(), Many("train")
    agents = learners(env)
    SequentialTrainer(env=env, agents=agents, cfg={"timesteps": STEPS, "headless": True}).train()
    for i, part in enumerate(np.array_split(env.found, 8), 1):
        print(f"games up to {i * len(env.found) // 8:6,}: {np.mean(part):.1%} found")
    unseen = Many("test")
    SequentialTrainer(env=unseen, agents=agents, cfg={"timesteps": 200, "headless": True}).eval()
    print(f"unseen pairs of things: {np.mean(unseen.found):.1%}, after {time.monotonic() - begun:.0f} seconds")

"""Two independent PPO learners of another library play `implicature.parallel_env()`, from random initialisation.

Each treats the other as part of the environment, without a model of it. The library is skrl, which has independent PPO
(IPPO) and runs on JAX, without PyTorch:  pip install 'implicature[learners]'
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
    """A logit for each action. The hidden layer multiplies, since meaning is what message and candidate share."""

    def __init__(self, **options):
        Model.__init__(self, **options)
        CategoricalMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        x = inputs["observations"]
        hidden = nn.tanh(nn.Dense(128)(x) * nn.Dense(128)(x))
        return nn.Dense(self.num_actions)(hidden), {}


class Value(DeterministicMixin, Model):
    def __init__(self, **options):
        Model.__init__(self, **options)
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        return nn.Dense(1)(nn.tanh(nn.Dense(64)(inputs["observations"]))), {}


class VectorEnv(MultiAgentEnvWrapper):
    """Several PettingZoo environments as one of skrl's. Observations are flattened, symbols one-hot; a game that is
    over is followed by the next."""

    num_envs = property(lambda self: len(self.envs))
    observation_spaces = property(lambda self: {a: spaces.flatten_space(s) for a, s in self.original_spaces.items()})

    def __init__(self, split: str):
        self.envs = [implicature.parallel_env(space=KITCHEN, candidates=2, split=split) for _ in range(ENVIRONMENTS)]
        self.original_spaces, self.returns = self.envs[0].observation_spaces, []
        super().__init__(self.envs[0])

    def flatten(self, observations):
        rows = {a: [spaces.flatten(space, one[a]) for one in observations] for a, space in self.original_spaces.items()}
        return {agent: jnp.asarray(np.array(each, np.float32)) for agent, each in rows.items()}

    def reset(self):
        return self.flatten([env.reset(seed=i)[0] for i, env in enumerate(self.envs)]), {}

    def step(self, actions):
        chosen = {agent: np.asarray(each).ravel().astype(int) for agent, each in actions.items()}
        observations, outcomes = [], []
        for i, env in enumerate(self.envs):
            observation, rewards, over, _, _ = env.step({agent: chosen[agent][i] for agent in chosen})
            if over["student"]:
                self.returns.append(rewards["student"])
                observation, _ = env.reset()
            observations.append(observation)
            outcomes.append((rewards["student"], over["student"], False))
        shared = [
            dict.fromkeys(self.original_spaces, jnp.asarray(each, jnp.float32)[:, None])
            for each in zip(*outcomes, strict=True)
        ]
        return self.flatten(observations), *shared, {}

    def state(self):
        return dict.fromkeys(self.original_spaces)

    def render(self):
        return self.envs[0].render()

    def close(self):
        pass


def make_learners(env: VectorEnv) -> IPPO:
    models = {}
    for agent in env.possible_agents:
        sizes = {"observation_space": env.observation_spaces[agent], "action_space": env.action_spaces[agent]}
        models[agent] = {"policy": Policy(**sizes), "value": Value(**sizes)}
        for role, model in models[agent].items():
            model.init_state_dict(role=role)
    # skrl 2.1 has no defaults of these for several agents.
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
    started, env = time.monotonic(), VectorEnv("train")
    learners = make_learners(env)
    SequentialTrainer(env=env, agents=learners, cfg={"timesteps": STEPS, "headless": True}).train()
    for i, part in enumerate(np.array_split(env.returns, 8), 1):
        print(f"games up to {i * len(env.returns) // 8:6,}: accuracy {np.mean(part):.1%}")
    test = VectorEnv("test")
    SequentialTrainer(env=test, agents=learners, cfg={"timesteps": 200, "headless": True}).eval()
    print(f"pairs not trained on: accuracy {np.mean(test.returns):.1%}, after {time.monotonic() - started:.0f} seconds")

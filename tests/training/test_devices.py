"""A batch divided among 1, 2, 4 or 8 devices: the same update within rounding, and runs that learn the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DEVICES = (1, 2, 4, 8)
TINY = {
    "train-games": 500, "pretraining-iterations": 30, "iterations": 10, "phases": 1, "candidate-sets": 16, "width": 4,
    "layers": 1, "q-hidden": 8,
}  # fmt: skip
UPDATES = """
import json
import equinox as eqx, jax, jax.numpy as jnp
from implicature.nn.exchange import ExchangeNet
from implicature.training.config import OptimiserConfig
from implicature.training.optimiser import apply_gradients, init_learner
from implicature.training.sharding import AXIS, is_sharded, n_shards, over_shards, shard

BATCH, STEPS, CONFIG = 16, 5, OptimiserConfig()
learner = init_learner(ExchangeNet(6, 5, jax.random.key(0), 4, 2), CONFIG, STEPS)
features = jax.random.normal(jax.random.key(1), (4, BATCH, 6))


def loss(net, features):
    return -jnp.mean(net(features).log_likelihood[0, 0])


def updates(learner, features):
    if is_sharded():
        size = BATCH // n_shards(BATCH)
        features = jax.lax.dynamic_slice_in_dim(features, jax.lax.axis_index(AXIS) * size, size, axis=1)
    for _ in range(STEPS):
        gradient = eqx.filter_grad(loss)(learner.model, features)
        learner = apply_gradients(learner, gradient, CONFIG, STEPS)
    return learner, {}


learner, features = shard((learner, features), BATCH)
after, _ = eqx.filter_jit(over_shards(updates, BATCH))(learner, features)
weights = jax.flatten_util.ravel_pytree(eqx.filter(after.model, eqx.is_array))[0]
print(json.dumps({"shards": n_shards(BATCH), "weights": weights.tolist()}))
"""


def with_devices(number: int, *command: str) -> str:
    """What a command prints in a process that has so many virtual devices."""
    flags = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={number}"}
    others = {name: value for name, value in os.environ.items() if name != "JAX_NUM_CPU_DEVICES"}
    done = subprocess.run(command, capture_output=True, text=True, env={**others, **flags}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_updates_on_the_same_games_agree_within_rounding_on_1_2_4_and_8_devices() -> None:
    found = {number: json.loads(with_devices(number, sys.executable, "-c", UPDATES)) for number in DEVICES}
    assert [found[number]["shards"] for number in DEVICES] == list(DEVICES)
    for number in DEVICES[1:]:
        np.testing.assert_allclose(found[number]["weights"], found[1]["weights"], atol=2e-5)
    # The updates were not nothing: a learning rate of 3e-3 moves weights by about as much in each step.
    assert np.ptp(found[1]["weights"]) > 0.1


@pytest.mark.slow
def test_a_pair_trains_on_more_devices_than_most_machines_have_cores(tmp_path: Path) -> None:
    command = str(Path(sys.executable).with_name("implicature"))
    folder = tmp_path / "run"
    options = [f"--{name}={value}" for name, value in TINY.items()]
    with_devices(8, command, "train", *options, "--quiet", "--json", "--out", str(folder))
    assert json.loads((folder / "config.json").read_text())["environment"]["devices"] == 8
    assert (folder / "phase-1.safetensors").exists()

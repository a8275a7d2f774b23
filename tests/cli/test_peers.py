"""Others beside ours: the twin in PyTorch computes what our network does, and what is not installed is said to be."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import Ask

from implicature.cli.benchmarks import peers
from implicature.nn.exchange import ExchangeNet


def test_what_is_not_installed_is_named_with_the_way_to_install_it(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(peers, "installed", lambda package, distribution: None)
    code, said, _ = ask("bench", "--peers", "--json")
    assert code == 0
    found = json.loads(said)["peers"]
    assert set(found) == {"memo", "eager_twin", "egg", "egg_large_batch"}
    assert all(list(one) == ["missing"] for one in found.values())
    code, said, _ = ask("bench", "--peers")
    assert code == 0
    assert "memo-lang" in said
    assert "[peers]" in said


@pytest.mark.slow
def test_the_twin_network_with_our_weights_gives_our_likelihood():
    torch = pytest.importorskip("torch", reason="pip install 'implicature[peers]'")
    from implicature.cli.benchmarks.torch_twin import Net

    ours = ExchangeNet(6, 5, jax.random.key(0), 4, 3, freeze_semantics=True)
    readout = 0.3 * jax.random.normal(jax.random.key(1), ours.readout.weight.shape)
    ours = jax.tree.map(lambda leaf: readout if leaf is ours.readout.weight else leaf, ours)
    twin = Net(6, 5, 4, 3)
    weights = {
        "encoder.0": ours.encoder[0].weight, "encoder.2": ours.encoder[1].weight, "expand": ours.expand.weight,
        "readout": readout[:-1],
    }  # fmt: skip
    biases = {"encoder.0": ours.encoder[0].bias, "encoder.2": ours.encoder[1].bias, "expand": ours.expand.bias}
    for i, layer in enumerate(ours.layers):
        weights |= {f"layers.{i}.{name}": getattr(layer, name) for name in ("own", "column_max", "row_mean", "row_max")}
        weights[f"layers.{i}.column_mean"] = layer.column_mean.weight
        biases[f"layers.{i}.column_mean"] = layer.column_mean.bias
    state = {f"{name}.weight": np.asarray(weight).T for name, weight in weights.items()}
    state |= {f"{name}.bias": np.asarray(bias) for name, bias in biases.items()}
    assert ours.aux_embeddings is not None
    state |= {"messages": np.asarray(ours.messages), "aux": np.asarray(ours.aux_embeddings).reshape(3, 5, -1)}
    twin.load_state_dict({name: torch.tensor(np.array(value)) for name, value in state.items()})
    features = np.random.default_rng(0).normal(size=(7, 4, 6)).astype(np.float32)
    theirs = twin(torch.tensor(features))[0].detach().numpy()  # games × candidates × messages
    expected = ours(jnp.asarray(features.transpose(1, 0, 2))).log_likelihood  # candidates × messages × games
    np.testing.assert_allclose(theirs, np.asarray(expected).transpose(2, 0, 1), atol=1e-4)

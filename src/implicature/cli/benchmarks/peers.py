"""Others at the same work, side by side on this machine (`bench --peers`), each where it can be imported:

    memo     the exact recursion of depth 3 (Chandra et al. 2025), the same games: one jit(vmap), and in blocks
             as ours (`map_blocks`) for `ratio_in_blocks`
    twin     our training step in eager PyTorch
    EGG      EGG's discrimination game in PyTorch, at its own batch of 32 games and at ours

Calls are interleaved, so that the machine's load affects all alike.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module, util
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from implicature.agents.rsa import soft_recursion
from implicature.cli.benchmarks.throughput import median_seconds, sample_data, training_calls
from implicature.games.registry import load_game
from implicature.nn.kernels import BLOCK, map_blocks
from implicature.training.config import Config

DEPTH, BETA = 3, 10.0
MEMO = """
import jax, jax.numpy as jnp
from memo import memo
R, U = jnp.arange({candidates}), jnp.arange({messages})

@jax.jit
def denotes(u, r, lexicon):
    return lexicon[r, u]

@memo
def L[u: U, r: R](beta, t, lexicon: ...):
    listener: thinks[
        speaker: given(r in R, wpp=1),
        speaker: chooses(u in U, wpp=
            denotes(u, r, lexicon) * (1 if t == 0 else exp(beta * L[u, r](beta, t - 1, lexicon))))
    ]
    listener: observes [speaker.u] is u
    listener: chooses(r in R, wpp=Pr[speaker.r == r])
    return Pr[listener.r == r]
"""
"""After the recursive model in memo's own demo-rsa.py. Its syntax needs Python 3.12."""


def memo_beliefs(candidates: int, messages: int) -> Callable[[jax.Array], jax.Array]:
    """L_3 of a game by memo: messages × candidates."""
    with tempfile.TemporaryDirectory() as folder:  # memo reads the model's source
        path = Path(folder) / "memo_model.py"
        path.write_text(MEMO.format(candidates=candidates, messages=messages), encoding="utf-8")
        spec = util.spec_from_file_location("memo_model", path)
        assert spec is not None
        assert spec.loader is not None
        model = util.module_from_spec(spec)
        spec.loader.exec_module(model)
    return lambda lexicon: model.L(BETA, DEPTH, lexicon)


def our_beliefs(lexicon: jax.Array) -> jax.Array:
    """L_3 of games as the last axis: candidates × messages × games."""
    return soft_recursion(lexicon, DEPTH, BETA).student[-1]


def installed(package: str, distribution: str) -> str | None:
    """Its version; None where it cannot be imported."""
    try:
        import_module(package)
        return version(distribution)
    except (ImportError, SyntaxError, PackageNotFoundError):
        return None


def measure_exact(seconds: float) -> dict[str, Any]:
    """Games per second of the exact recursion: ours and memo's."""
    if (found := installed("memo", "memo-lang")) is None:
        return {"missing": "memo: pip install memo-lang, on Python 3.12 or later"}
    data = sample_data(*load_game("numbers-4"))
    lexicon = data.lexicon[data.games.candidates]
    values = lexicon.astype(jnp.float32)
    memo = memo_beliefs(*lexicon.shape[1:])
    ours = jax.jit(partial(map_blocks, our_beliefs))
    theirs = jax.jit(jax.vmap(memo)), jax.jit(lambda lexicon: jax.lax.map(memo, lexicon, batch_size=BLOCK))
    said = np.asarray(lexicon).any(axis=1)  # of a word that fits nobody, beliefs are a matter of convention
    both = np.asarray(ours(lexicon)).transpose(0, 2, 1)[said], np.asarray(theirs[0](values))[said]
    difference = float(np.abs(both[0] - both[1]).max())
    calls = (lambda: ours(lexicon), *(lambda run=run: run(values) for run in theirs))
    our_time, their_time, blocks_time = median_seconds(*calls, at_least=seconds)
    rates = {"games_per_second": round(len(lexicon) / their_time), "ours": round(len(lexicon) / our_time)}
    ratios = {"ratio": round(their_time / our_time, 2), "ratio_in_blocks": round(blocks_time / our_time, 2)}
    return {"version": found, **rates, **ratios, "largest_difference": difference}


def measure_training(seconds: float) -> dict[str, dict[str, Any]]:
    """Training games per second: ours, the eager twin's and EGG's."""
    if (found := installed("torch", "torch")) is None:
        missing = {"missing": "PyTorch: pip install 'implicature[peers]'"}
        return {"eager_twin": missing, "egg": missing, "egg_large_batch": missing}
    import torch  # pyright: ignore[reportMissingImports]

    from implicature.cli.benchmarks.torch_twin import EGG_BATCH, egg_step, twin_step

    space, candidates = load_game("numbers-4")
    calls, config = training_calls(Config(), space, candidates), Config()
    data = sample_data(space, candidates)
    games = torch.tensor(np.asarray(data.observations[data.games.candidates]))
    torch.manual_seed(0)
    sets = config.optimiser.batch
    large = sets * candidates
    steps = {
        "eager_twin": (twin_step(games, sets), 2 * large),
        "egg": (egg_step(games), EGG_BATCH),
        "egg_large_batch": (egg_step(games, large), large),
    }
    times = median_seconds(*calls.halves, *(step for step, _ in steps.values()), at_least=seconds)
    ours = calls.games / sum(times[:2])
    rates = {name: number / time for (name, (_, number)), time in zip(steps.items(), times[2:], strict=True)}
    return {
        name: {"version": found, "games_per_second": round(rate), "ours": round(ours), "ratio": round(ours / rate, 2)}
        for name, rate in rates.items()
    }


NAMES = {
    "memo": "exact recursion of depth 3, memo",
    "eager_twin": "training, our step in eager PyTorch",
    "egg": "training, EGG's game in PyTorch, batches of 32",
    "egg_large_batch": "training, EGG's game in PyTorch, batches of 1,024",
}


def measure_peers(seconds: float = 4.0) -> dict[str, dict[str, Any]]:
    """All peers, by the keys of `--json`."""
    return {"memo": measure_exact(seconds), **measure_training(seconds)}

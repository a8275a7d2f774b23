"""The baselines' training: speaker and listener learn together, each from the return alone (REINFORCE).

    J = log π_A(m) · (R − R̄) + log π_B(a) · (R − E R) + λ (H(π_A) + H(π_B)),     R = 1[a = o*]

R̄ is the mean return of the batch's other games. As for our student (F-19), R may be taken in expectation over the
listener's answers, π_B(o*), instead of from the sampled one.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from implicature.agents.belief import entropy
from implicature.agents.contracts import Pair
from implicature.agents.perspectives import FeatureTable
from implicature.agents.rollout import Rollout, boltzmann, categorical, rollout
from implicature.games.rules import Rules
from implicature.nn.image_encoder import encode_batch
from implicature.nn.kernels import Index, take_one_hot
from implicature.training.config import Config, MethodConfig
from implicature.training.losses import CREDIT_ASSIGNMENT
from implicature.training.optimiser import Learner, Metrics, Step, apply_gradients
from implicature.training.task import GameData

Bonus = float | Float[Array, ""]


def minus_mean_of_others(returns: Float[Array, "*games"]) -> Float[Array, "*games"]:
    """Each game's return less the mean of all the others'."""
    return (returns - jnp.mean(returns)) * returns.size / max(1, returns.size - 1)


def joint_loss(
    played: Rollout, target: Index, config: MethodConfig, bonuses: tuple[Bonus, Bonus]
) -> tuple[Float[Array, "*#games"], dict[str, Array]]:
    """−J of each game of one round, and its parts. The entropy bonuses are the speaker's and the listener's."""
    log_message = take_one_hot(played.values[0], played.message[0])
    returns = played.reward[0] if config.credit == "sampled" else take_one_hot(played.after[0], target)
    speaker = -log_message * jax.lax.stop_gradient(minus_mean_of_others(returns))
    listener = -CREDIT_ASSIGNMENT[config.credit](played, target, 0.0, "belief", None)[0]
    speaker_entropy, listener_entropy = entropy(jnp.exp(played.values[0])), entropy(played.after[0])
    loss = speaker + listener - bonuses[0] * speaker_entropy - bonuses[1] * listener_entropy
    return loss, {"speaker_loss": speaker, "student_loss": listener, "entropy": speaker_entropy}


def joint_step(config: Config, data: GameData, rules: Rules, features: FeatureTable) -> Step:
    """Both learn from the same games."""
    optimiser, listener_bonus = config.optimiser, config.method.listener_entropy_bonus
    assert listener_bonus is not None  # resolved

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Metrics]:
        games_key, play_key = jax.random.split(key)
        games = data.sample(games_key, optimiser.batch, optimiser.all_targets)

        def loss(pair: Pair) -> tuple[Array, Metrics]:
            teacher, student = (
                encode_batch(encoder, data.observations, known, games.candidates)
                for encoder, known in (
                    (pair.teacher_encoder, features.teacher),
                    (pair.student_encoder, features.student),
                )
            )
            seen = data.perspectives(games, FeatureTable(teacher, student))
            played = rollout(play_key, pair.teacher, pair.student, seen, rules, boltzmann(1.0), categorical)
            left = 1 - state.iteration / optimiser.iterations
            bonuses = config.method.entropy_bonus * left, listener_bonus * left
            each, metrics = joint_loss(played, games.target, config.method, bonuses)
            return jnp.mean(each), jax.tree.map(jnp.mean, {"reward": played.episode_return, **metrics})

        (_, metrics), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
        return apply_gradients(state, gradient, optimiser, optimiser.iterations), metrics

    return step

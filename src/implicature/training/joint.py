"""The methods that ours is compared with: speaker and listener learn together, each from the gain alone (REINFORCE).

    J = log π_A(m) · (R − R̄) + log π_B(a) · (R − E R) + λ (H(π_A) + H(π_B)),     R = 1[a = o*]

R̄ is the mean gain of the batch's other games. As in our student's half (F-19), R may be taken for every answer that he
might give, each by its chance, instead of for the one that he gave: its mean, π_B(o*).
"""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from implicature.agents.lazaridou import ContextFree, Informed, Listener, Matching, Speaker
from implicature.agents.rollout import Dialogue, by_chance, dialogue, softly
from implicature.agents.teacher import entropy
from implicature.games.sampling import Rules
from implicature.nn.belief_nets import Choice, chosen
from implicature.nn.image_encoder import Looks, Sights, looked_at, new_eyes, number_of_features
from implicature.training.algorithm1 import Info, Learner, Pair, Step, World, beta_of, learn, views
from implicature.training.config import Config
from implicature.training.losses import LESSONS


def pair_of_2018(key: Key[Array, ""], config: Config, looks: Looks, messages: int) -> Pair:
    """A speaker who sees the target alone."""
    return pair_of(key, config, looks, messages, ContextFree)


def pair_of_2017(key: Key[Array, ""], config: Config, looks: Looks, messages: int) -> Pair:
    """A speaker who sees target and distractors."""
    return pair_of(key, config, looks, messages, partial(Informed, filters=config.width))


def pair_of(
    key: Key[Array, ""], config: Config, looks: Looks, messages: int, speaking: Callable[..., ContextFree | Informed]
) -> Pair:
    hers, his = jax.random.split(key)
    sizes, more = (number_of_features(looks), messages), {"width": 4 * config.width, "temperature": config.temperature}
    speaker = Speaker(speaking(*sizes, hers, **more), new_eyes(hers, looks))
    return Pair(speaker, Listener(Matching(*sizes, his, **more), new_eyes(his, looks)))


def above_others(gain: Float[Array, "*games"]) -> Float[Array, "*games"]:
    """Each game's gain less the mean of all the others'."""
    return (gain - jnp.mean(gain)) * gain.size / max(1, gain.size - 1)


def joint_loss(
    played: Dialogue, target: Choice, config: Config, weight: float | Float[Array, ""]
) -> tuple[Float[Array, "*#games"], dict[str, Array]]:
    """−J of each game of one round, and its parts."""
    said = chosen(played.values[0], played.message[0])
    one = config.answers == "one"
    gain = played.reward[0] if one else chosen(played.after[0], target)
    speaker = -said * jax.lax.stop_gradient(above_others(gain))
    listener = -LESSONS[config.answers](played, target, 0.0)[0]
    spread = entropy(jnp.exp(played.values[0])), entropy(played.after[0])
    loss = speaker + listener - weight * (spread[0] + spread[1])
    return loss, {"speaker_loss": speaker, "student_loss": listener, "entropy": spread[0]}


def joint_step(config: Config, world: World, rules: Rules, sights: Sights) -> Step:
    """Both learn from the same games."""

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Info]:
        games_key, play_key = jax.random.split(key)
        games = world.sample(games_key, config.batch, config.every_target)
        speak = softly(beta_of(config, rules))

        def loss(pair: Pair) -> tuple[Array, Info]:
            hers, his = (
                looked_at(agent.eyes, world.looks, known, games.candidates)
                for agent, known in ((pair.teacher, sights.hers), (pair.student, sights.his))
            )
            shown = views(games, Sights(hers, his))
            played = dialogue(play_key, pair.teacher, pair.student, shown, rules, speak, by_chance, told=True)
            weight = config.entropy * (1 - state.iteration / config.iterations)
            each, info = joint_loss(played, games.target, config, weight)
            return jnp.mean(each), jax.tree.map(jnp.mean, {"reward": played.gain, **info})

        (_, info), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
        return learn(state, gradient, config, config.iterations), info

    return step

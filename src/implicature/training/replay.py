"""The teacher's replay buffer and target network (Algorithm 1, lines 6, 22 and 34)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.rollout import Rollout
from implicature.agents.teacher import LearnedTeacher
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.nn.image_encoder import ImageEncoder
from implicature.training.config import Config
from implicature.training.optimiser import Learner, init_learner


class Transition(eqx.Module):
    """Rounds as the replay buffer keeps them."""

    candidates: Int[Array, "candidates *#games"]
    target: Int[Array, "*#games"]
    b_tm1: Float[Array, "candidates *#games"]
    m_tm1: Int[Array, "*#games"]
    b_t: Float[Array, "candidates *#games"]
    r_t: Float[Array, "*#games"]
    discount_t: Float[Array, "*#games"]
    """γ where the game goes on, 0 at its end."""
    active: Bool[Array, "*#games"]


class TeacherState(eqx.Module):
    learner: Learner
    """Of the teacher and, where it is finetuned, her image encoder."""
    target_network: LearnedTeacher
    replay: Transition
    """The last rounds played, batches × candidate sets."""


def init_teacher_state(
    teacher: LearnedTeacher, encoder: ImageEncoder | None, config: Config, rules: Rules
) -> TeacherState:
    """An empty replay buffer (line 6), and a target network that equals the Q-network."""
    optimiser = config.optimiser
    sets = config.method.replay_batches, optimiser.candidate_sets
    rounds = rules.rounds * (rules.candidates if optimiser.all_targets else 1)
    candidates = jnp.zeros((*sets, rules.candidates, 1), jnp.int32)
    number, belief = jnp.zeros((*sets, rounds)), jnp.zeros((*sets, rules.candidates, rounds))
    index = number.astype(jnp.int32)
    replay = jax.vmap(jax.vmap(Transition))(
        candidates, index, belief, index, belief, number, number, number.astype(bool)
    )
    return TeacherState(init_learner((teacher, encoder), optimiser, optimiser.iterations), teacher, replay)


def transitions(games: Game, played: Rollout, gamma: float) -> Transition:
    """The rounds of the games with each candidate set, as if they were games of their own (line 22)."""
    continues = jnp.append(played.active[1:], jnp.zeros_like(played.active[:1]), axis=0)

    def flat(leaf: Array) -> Array:
        rounds, *rest, targets, sets = leaf.shape
        return jnp.moveaxis(leaf, 0, -3).reshape(*rest, rounds * targets, sets)

    return Transition(
        games.candidates, jnp.tile(games.target, (len(played.message), 1)), flat(played.before), flat(played.message),
        flat(played.after), flat(played.reward), gamma * flat(continues), flat(played.active),
    )  # fmt: skip

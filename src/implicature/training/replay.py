"""The teacher's replay buffer and target network (Algorithm 1, lines 6, 22 and 34)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.belief import belief_in_target
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
    """The student's belief, as he returned it or as she predicts it."""
    a_t: Int[Array, "*#games"]
    """The student's answer, in the teacher's order; waiting is the number of candidates."""
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
    sets = config.method.replay_batches, optimiser.batch
    rounds = rules.rounds * (rules.candidates if optimiser.all_targets else 1)
    candidates = jnp.zeros((*sets, rules.candidates, 1), jnp.int32)
    number, belief = jnp.zeros((*sets, rounds)), jnp.zeros((*sets, rules.candidates, rounds))
    index = number.astype(jnp.int32)
    replay = jax.vmap(jax.vmap(Transition))(
        candidates, index, belief, index, belief, index, number, number, number.astype(bool)
    )
    return TeacherState(init_learner((teacher, encoder), optimiser, optimiser.iterations), teacher, replay)


def transitions(
    games: Game,
    played: Rollout,
    gamma: float,
    observe_belief: bool = True,
    rules: Rules | None = None,
    cells: Int[Array, "candidates *#games"] | None = None,
) -> Transition:
    """The rounds of the games with each candidate set, as if they were games of their own (line 22). Where she does not
    observe his belief, they hold her own estimates of it.

    Within a message of several words r_t is (1 − γ) b_t(o*), less the word's cost: a word is also worth what he would
    make of it were it the last, else all first words that can be made up for by the next look alike (F-56)."""
    before, after = (played.before, played.after) if observe_belief else (played.estimate, played.predicted)
    reward = played.reward
    if rules is not None and rules.words > 1:
        worth = jax.vmap(lambda belief: belief_in_target(belief, games.target, cells))(after)
        within = ~rules.completes(jnp.arange(rules.rounds))
        reward = reward + (1 - gamma) * within[:, None, None] * worth
    continues = jnp.append(played.active[1:], jnp.zeros_like(played.active[:1]), axis=0)

    def flat(leaf: Array) -> Array:
        rounds, *rest, targets, sets = leaf.shape
        return jnp.moveaxis(leaf, 0, -3).reshape(*rest, rounds * targets, sets)

    return Transition(
        games.candidates, jnp.tile(games.target, (len(played.message), 1)), flat(before), flat(played.message),
        flat(after), flat(played.action), flat(reward), gamma * flat(continues), flat(played.active),
    )  # fmt: skip

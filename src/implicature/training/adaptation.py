"""Algorithm 1: in each phase the teacher adapts to a fixed student, then the student to the fixed teacher.

Every learner follows one law, `state, info = step(key, state)`; a half phase is a scan over it.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.belief import NETWORKS, ExchangeNet
from implicature.agents.dialogue import Dialogue, Views, by_chance, dialogue, exploring, softly
from implicature.agents.student import Student
from implicature.agents.teacher import Teacher
from implicature.games import Game, Rules
from implicature.training.config import Config
from implicature.training.losses import LESSONS, Transition, baseline, returns, student_loss, teacher_loss
from implicature.training.parts import mean_over_parts, own_key
from implicature.training.pretraining import grounding_loss

Info = dict[str, Float[Array, ""]]
Step = Callable[[Key[Array, ""], Any], tuple[Any, Info]]


class World(eqx.Module):
    """What the games are made of: how instances look, what is true of them, and the training games."""

    features: Float[Array, "instances ..."]
    truth: Bool[Array, "instances messages"]
    games: Game

    def views(self, game: Game) -> Views:
        return Views(self.features[game.candidates], self.features[game.student_candidates], game.target, game.order)

    def sample(self, key: Key[Array, ""], sets: int, every_target: bool) -> Game:
        """Training games, targets × sets of candidates: all targets of each set, or one."""
        row_key, target_key = jax.random.split(key)
        number, candidates = self.games.candidates.shape
        row = jax.random.randint(row_key, (sets,), 0, number)
        if every_target:
            target = jnp.tile(jnp.arange(candidates)[:, None], sets)
        else:
            target = jax.random.randint(target_key, (1, sets), 0, candidates)
        return Game(self.games.candidates[row].T[:, None], target, self.games.order[row].T[:, None])


class Pair(eqx.Module):
    """The two agents, of whatever method: `dialogue` plays them."""

    teacher: Any
    student: Any


def new_pair(key: Key[Array, ""], config: Config, features: int, messages: int) -> Pair:
    """A teacher and a student of the same build, differently initialised."""
    hers, his, value = jax.random.split(key, 3)
    width = config.width if config.network == "exchange" else 4 * config.width

    def net(key: Key[Array, ""]):
        given = features, messages, key, width, config.depth, config.likelihood, config.lapse
        if config.network == "exchange":
            return ExchangeNet(*given, lexicon=config.grounded and config.lexicon)
        return NETWORKS[config.network](*given)

    return Pair(Teacher(net(hers), 2 * config.width, value, config.reads_belief), Student(net(his)))


class Learner(eqx.Module):
    """A model with its optimiser's state and the iteration it is at."""

    model: Any
    adam: optax.OptState
    iteration: Int[Array, ""]


def optimiser(config: Config, iterations: int) -> optax.GradientTransformation:
    # A gentle start: the paper network's large message vectors do not survive Adam's first full steps (F-11).
    peak, low = config.learning_rate, 0.02 * config.learning_rate
    rate = optax.warmup_cosine_decay_schedule(low, peak, max(1, iterations // 10), max(2, iterations), low)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))


def learner(model: Any, config: Config, iterations: int) -> Learner:
    return Learner(model, optimiser(config, iterations).init(eqx.filter(model, eqx.is_array)), jnp.asarray(0))


def learn(state: Learner, gradient: Any, config: Config, iterations: int) -> Learner:
    updates, adam = optimiser(config, iterations).update(mean_over_parts(gradient), state.adam)
    return Learner(eqx.apply_updates(state.model, updates), adam, state.iteration + 1)


def grounding_step(config: Config, world: World, pretraining: Callable[..., Array] = grounding_loss) -> Step:
    """Bayesian pretraining of one network."""

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Info]:
        games_key, prior_key = jax.random.split(key)
        games = world.sample(games_key, config.batch, every_target=False)

        def loss(net: Any) -> Array:
            truth = jnp.moveaxis(world.truth[games.candidates], -1, 1)
            return jnp.mean(pretraining(net, prior_key, world.features[games.candidates], truth))

        value, gradient = eqx.filter_value_and_grad(loss)(state.model)
        return learn(state, gradient, config, config.pretraining), {"grounding_loss": value}

    return step


def beta_of(config: Config, rules: Rules) -> float:
    """With few candidates a soft teacher comes to say untrue words; with many a hard one breaks no ties (F-16). What a
    baseline's speaker gives as values are the logarithms of her chances."""
    if config.method != "pragmatic":
        return 1.0
    return config.beta if config.beta is not None else 20.0 if rules.candidates <= 4 else 10.0


def calibration_of(config: Config) -> float:
    """Softness keeps a grounded protocol true; one that has yet to be made is made faster without (F-18)."""
    return config.calibration if config.calibration is not None else 1.0 if config.grounded else 0.0


class TeacherState(eqx.Module):
    learner: Learner
    target: Teacher
    replay: Transition
    """The last rounds played, batches × sets of candidates."""


def teacher_state(teacher: Teacher, config: Config, rules: Rules) -> TeacherState:
    """An empty replay buffer, a target network that equals the Q-network."""
    sets = config.replay, config.batch
    rounds = rules.rounds * (rules.candidates if config.every_target else 1)
    candidates = jnp.zeros((*sets, rules.candidates, 1), jnp.int32)
    number, belief = jnp.zeros((*sets, rounds)), jnp.zeros((*sets, rules.candidates, rounds))
    whole = number.astype(jnp.int32)
    replay = jax.vmap(jax.vmap(Transition))(
        candidates, whole, belief, whole, belief, number, number, number.astype(bool)
    )
    return TeacherState(learner(teacher, config, config.iterations), teacher, replay)


def transitions(games: Game, played: Dialogue, gamma: float) -> Transition:
    """The rounds of the games with each set of candidates, as if they were games of their own."""
    goes_on = jnp.append(played.live[1:], jnp.zeros_like(played.live[:1]), axis=0)

    def flat(leaf: Array) -> Array:
        rounds, *rest, targets, sets = leaf.shape
        return jnp.moveaxis(leaf, 0, -3).reshape(*rest, rounds * targets, sets)

    return Transition(
        games.candidates, jnp.tile(games.target, (len(played.message), 1)), flat(played.before), flat(played.message),
        flat(played.after), flat(played.reward), gamma * flat(goes_on), flat(played.live),
    )  # fmt: skip


def teacher_step(config: Config, world: World, rules: Rules, student: Student) -> Step:
    """The teacher's half: Q-learning from replay, and her prediction of his belief."""

    def step(key: Key[Array, ""], state: TeacherState) -> tuple[TeacherState, Info]:
        games_key, play_key, replay_key = jax.random.split(key, 3)
        i, teacher = state.learner.iteration, state.learner.model
        first, last = config.epsilon
        epsilon = first * (last / first) ** (i / config.iterations)
        games = world.sample(games_key, config.batch, config.every_target)
        speak = exploring(epsilon, beta_of(config, rules))
        played = dialogue(play_key, teacher, student, world.views(games), rules, speak, by_chance, told=True)
        new = transitions(games, played, config.gamma)
        replay = jax.tree.map(
            lambda all, now: all.at[i % config.replay].set(jnp.moveaxis(now, -1, 0)), state.replay, new
        )
        kept = jnp.minimum(i + 1, config.replay) * config.batch
        row = jax.random.randint(replay_key, (config.batch,), 0, kept)
        seen = jax.tree.map(lambda leaf: jnp.moveaxis(leaf.reshape(-1, *leaf.shape[2:])[row], 0, -1), replay)

        def loss(model: Teacher) -> tuple[Array, Info]:
            target = state.target if rules.rounds > 1 else None
            each, info = teacher_loss(model, target, seen, world.features[seen.candidates], config.obverter)
            return jnp.mean(each), jax.tree.map(jnp.mean, info)

        (_, info), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(teacher)
        now = learn(state.learner, gradient, config, config.iterations)
        due = now.iteration % config.target_update == 0
        target = jax.tree.map(
            lambda old, new: jnp.where(due, new, old) if eqx.is_array(old) else old, state.target, now.model
        )
        return TeacherState(now, target, replay), {"reward": jnp.mean(played.gain), **info}

    return step


def student_step(config: Config, world: World, rules: Rules, teacher: Teacher) -> Step:
    """The student's half: REINFORCE against a teacher who speaks by softmax(β Q)."""

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Info]:
        games_key, play_key = jax.random.split(key)
        views = world.views(world.sample(games_key, config.batch, config.every_target))
        speak = softly(beta_of(config, rules))

        def loss(student: Student) -> tuple[Array, Info]:
            played = dialogue(play_key, teacher, student, views, rules, speak, by_chance, told=True)
            gains = returns(played, config.gamma)
            live = jnp.sum(played.live, axis=(1, 2), keepdims=True)
            mean = jnp.sum(gains * played.live, axis=(1, 2), keepdims=True) / jnp.maximum(live, 1)
            later = config.gamma * jnp.append(mean[1:], jnp.zeros((1, 1, 1)), axis=0)
            advantage = gains - baseline(played, later, rules.message_cost)
            each = student_loss(played, views.target, advantage, calibration_of(config), LESSONS[config.answers])
            return jnp.mean(each), {"reward": jnp.mean(gains[0]), "student_loss": jnp.mean(each)}

        (_, info), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
        return learn(state, gradient, config, config.iterations), info

    return step


def iterate(step: Step, key: Key[Array, ""], state: Any, start: Int[Array, ""], iterations: int) -> tuple[Any, Info]:
    """Some iterations of a half phase. Their keys depend on the iteration alone, so that chunks do not matter."""

    key = own_key(key)

    def body(state: Any, i: Array) -> tuple[Any, Info]:
        return step(jax.random.fold_in(key, i), state)

    state, info = jax.lax.scan(body, state, start + jnp.arange(iterations))
    return state, mean_over_parts(jax.tree.map(jnp.mean, info))

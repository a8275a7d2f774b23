"""Algorithm 1: in each phase the teacher adapts to a fixed student, then the student to the fixed teacher.

Every learner follows one law, `state, info = step(key, state)`; a half phase is a scan over it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.rollout import Dialogue, Views, by_chance, dialogue, exploring, softly
from implicature.agents.student import Student
from implicature.agents.teacher import Teacher
from implicature.games.sampling import Game, Rules
from implicature.nn.belief_nets import ExchangeNet, PaperNet
from implicature.nn.image_encoder import Eyes, Looks, Sights, looked_at, new_eyes, number_of_features, seen
from implicature.training.config import Config
from implicature.training.losses import LESSONS, Transition, baseline, returns, student_loss, teacher_loss
from implicature.training.pretraining import GLIMPSES, Teaching, glimpsed, looking_loss
from implicature.training.sharding import mean_over_parts, own_key

Info = dict[str, Float[Array, ""]]
Step = Callable[[Key[Array, ""], Any], tuple[Any, Info]]


class World(eqx.Module):
    """What the games are made of: how instances look, what is true of them, and the training games."""

    looks: Looks
    truth: Bool[Array, "instances messages"]
    games: Game

    @property
    def variety(self) -> int:
        """Looks of each instance."""
        return len(self.looks) // len(self.truth)

    def shown(self, key: Key[Array, ""], game: Game) -> Game:
        """The game with looks for candidates: each instance in any of its own."""
        if self.variety == 1:
            return game
        any_look = jax.random.randint(key, game.candidates.shape, 0, self.variety)
        return Game(game.candidates * self.variety + any_look, game.target, game.order)

    def sample(self, key: Key[Array, ""], sets: int, every_target: bool) -> Game:
        """Training games, targets × sets of candidates (as they look): all targets of each set, or one."""
        row_key, target_key = jax.random.split(key)
        number, candidates = self.games.candidates.shape
        row = jax.random.randint(row_key, (sets,), 0, number)
        if every_target:
            target = jnp.tile(jnp.arange(candidates)[:, None], sets)
        else:
            target = jax.random.randint(target_key, (1, sets), 0, candidates)
        game = Game(self.games.candidates[row].T[:, None], target, self.games.order[row].T[:, None])
        return self.shown(jax.random.fold_in(key, 2), game)


def views(game: Game, sights: Sights) -> Views:
    """A game of looks as each side sees it."""
    return Views(sights.hers[game.candidates], sights.his[game.student_candidates], game.target, game.order)


class Pair(eqx.Module):
    """The two agents, of whatever method: `dialogue` plays them."""

    teacher: Any
    student: Any

    def sights(self, looks: Looks) -> Sights:
        return Sights(seen(self.teacher.eyes, looks), seen(self.student.eyes, looks))


def new_pair(key: Key[Array, ""], config: Config, looks: Looks, messages: int) -> Pair:
    """A teacher and a student of the same build, differently initialised."""
    hers, his, value = jax.random.split(key, 3)
    features = number_of_features(looks)
    width = config.width if config.network == "exchange" else 4 * config.width

    def net(key: Key[Array, ""]):
        given = features, messages, key, width, config.depth, config.likelihood, config.lapse
        if config.network == "exchange":
            # Open eyes learn from use, so that meaning cannot stay as it was taught.
            keeps = config.grounded and config.lexicon and config.sight != "end-to-end"
            return ExchangeNet(*given, lexicon=keeps)
        return PaperNet(*given, loud=not config.grounded)

    teacher = Teacher(net(hers), 2 * config.width, value, config.reads_belief, new_eyes(hers, looks))
    return Pair(teacher, Student(net(his), eyes=new_eyes(his, looks)))


class Learner(eqx.Module):
    """A model with its optimiser's state and the iteration it is at."""

    model: Any
    adam: optax.OptState
    iteration: Int[Array, ""]


def optimiser(config: Config, iterations: int) -> optax.GradientTransformation:
    # A gentle start: the paper network's large message vectors do not survive Adam's first full steps (F-11).
    peak, low = config.learning_rate, 0.02 * config.learning_rate
    rate = optax.warmup_cosine_decay_schedule(low, peak, max(1, iterations // 10), max(2, iterations), low)
    # All weights as one array: few operations instead of many small ones, to run and to compile.
    adam = optax.flatten(optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam()))

    def decayed(updates: Any, weights: Any) -> Any:
        """Only what learns: eyes that stay, and what words were taught to mean, are not to fade away."""
        return jax.tree.map(lambda u, w: u + config.weight_decay * w * jnp.any(u != 0), updates, weights)

    decay = (optax.stateless(decayed),) if config.weight_decay else ()
    return optax.chain(adam, *decay, optax.scale_by_learning_rate(rate))


def learner(model: Any, config: Config, iterations: int) -> Learner:
    return Learner(model, optimiser(config, iterations).init(eqx.filter(model, eqx.is_array)), jnp.asarray(0))


def learn(state: Learner, gradient: Any, config: Config, iterations: int) -> Learner:
    weights = eqx.filter(state.model, eqx.is_array)
    updates, adam = optimiser(config, iterations).update(mean_over_parts(gradient), state.adam, weights)
    return Learner(eqx.apply_updates(state.model, updates), adam, state.iteration + 1)


Reader = tuple[Any, Eyes | None]
"""What is taught before the first phase: a network and, in front of it, eyes."""


GENTLY = 0.25
"""The share of the learning rate at which the paper's network survives being taught words (F-11)."""


def grounding_step(config: Config, world: World, teaching: Teaching) -> Step:
    """Bayesian pretraining of one network, and of the eyes before it."""
    gently = config.method == "pragmatic" and config.network == "paper"
    taught = replace(config, learning_rate=GENTLY * config.learning_rate) if gently else config

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Info]:
        games_key, prior_key = jax.random.split(key)
        in_pictures = state.model[1] is not None
        sets = max(1, GLIMPSES // world.games.candidates.shape[1]) if in_pictures else config.batch
        looks = world.sample(games_key, sets, every_target=False).candidates
        truth = jnp.moveaxis(world.truth[looks // world.variety], -1, 1)
        gaze_key = jax.random.fold_in(key, 2)

        def loss(reader: Reader) -> Array:
            net, eyes = reader
            if eyes is None:
                features = world.looks[looks]
            else:
                features = glimpsed(gaze_key, eyes, world.looks[looks.reshape(-1)]).reshape(*looks.shape, -1)
            return jnp.mean(teaching(prior_key, net(features).strict, truth))

        value, gradient = eqx.filter_value_and_grad(loss)(state.model)
        return learn(state, gradient, taught, config.pretraining), {"grounding_loss": value}

    return step


def looking_step(config: Config, world: World) -> Step:
    """The eyes of an ungrounded pair learn to tell pictures apart, without any attribute."""

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Info]:
        games_key, gaze_key = jax.random.split(key)
        sets = max(1, GLIMPSES // world.games.candidates.shape[1])
        looks = world.sample(games_key, sets, every_target=False).candidates.reshape(-1)

        def loss(reader: tuple[Any, Eyes]) -> Array:
            return jnp.mean(looking_loss(gaze_key, reader[1], world.looks, looks))

        value, gradient = eqx.filter_value_and_grad(loss)(state.model)
        return learn(state, gradient, config, config.pretraining), {"looking_loss": value}

    return step


def beta_of(config: Config, rules: Rules) -> float:
    """With few candidates a soft teacher comes to say untrue words; with many a hard one breaks no ties. Where another
    message may follow, a worse word costs but that message, and she is to mind no less (F-16). What a baseline's
    speaker gives as values are the logarithms of her chances."""
    if config.method != "pragmatic":
        return 1.0
    if config.beta is not None:
        return config.beta
    return (20.0 if rules.candidates <= 4 else 10.0) * (4.0 if rules.rounds > 1 else 1.0)


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


def teacher_step(config: Config, world: World, rules: Rules, student: Student, sights: Sights) -> Step:
    """The teacher's half: Q-learning from replay, and her prediction of his belief."""

    def step(key: Key[Array, ""], state: TeacherState) -> tuple[TeacherState, Info]:
        games_key, play_key, replay_key = jax.random.split(key, 3)
        i, teacher = state.learner.iteration, state.learner.model
        first, last = config.epsilon
        epsilon = first * (last / first) ** (i / config.iterations)
        games = world.sample(games_key, config.batch, config.every_target)
        speak = exploring(epsilon, beta_of(config, rules))
        hers = looked_at(teacher.eyes, world.looks, sights.hers, games.candidates)
        shown = views(games, Sights(hers, sights.his))
        played = dialogue(play_key, teacher, student, shown, rules, speak, by_chance, told=True)
        new = transitions(games, played, config.gamma)
        replay = jax.tree.map(
            lambda all, now: all.at[i % config.replay].set(jnp.moveaxis(now, -1, 0)), state.replay, new
        )
        kept = jnp.minimum(i + 1, config.replay) * config.batch
        row = jax.random.randint(replay_key, (config.batch,), 0, kept)
        again = jax.tree.map(lambda leaf: jnp.moveaxis(leaf.reshape(-1, *leaf.shape[2:])[row], 0, -1), replay)

        if config.every_target:
            # The same in every batch: no need to look it up.
            again = eqx.tree_at(lambda kept: kept.target, again, new.target)

        def loss(model: Teacher) -> tuple[Array, Info]:
            target = state.target if rules.rounds > 1 else None
            hers = looked_at(model.eyes, world.looks, sights.hers, again.candidates)
            each, info = teacher_loss(model, target, again, hers[again.candidates], config.obverter)
            return jnp.mean(each), jax.tree.map(jnp.mean, info)

        (_, info), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(teacher)
        now = learn(state.learner, gradient, config, config.iterations)
        target = state.target
        if rules.rounds > 1:
            due = now.iteration % config.target_update == 0
            target = jax.tree.map(
                lambda old, new: jnp.where(due, new, old) if eqx.is_array(old) else old, target, now.model
            )
        return TeacherState(now, target, replay), {"reward": jnp.mean(played.gain), **info}

    return step


def student_step(config: Config, world: World, rules: Rules, teacher: Teacher, sights: Sights) -> Step:
    """The student's half: REINFORCE against a teacher who speaks by softmax(β Q)."""

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Info]:
        games_key, play_key = jax.random.split(key)
        games = world.sample(games_key, config.batch, config.every_target)
        speak = softly(beta_of(config, rules))

        def loss(student: Student) -> tuple[Array, Info]:
            his = looked_at(student.eyes, world.looks, sights.his, games.student_candidates)
            shown = views(games, Sights(sights.hers, his))
            played = dialogue(play_key, teacher, student, shown, rules, speak, by_chance, told=True)
            gains = returns(played, config.gamma)
            live = jnp.sum(played.live, axis=(1, 2), keepdims=True)
            mean = jnp.sum(gains * played.live, axis=(1, 2), keepdims=True) / jnp.maximum(live, 1)
            later = config.gamma * jnp.append(mean[1:], jnp.zeros((1, 1, 1)), axis=0)
            advantage = gains - baseline(played, later, rules.message_cost)
            each = student_loss(played, games.target, advantage, calibration_of(config), LESSONS[config.answers])
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

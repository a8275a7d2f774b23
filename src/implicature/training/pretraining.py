"""Pretraining, before phase 1.

**Bayesian pretraining** of a grounded pair (section 5.2): f learns the exact belief of a student who hears a literal
teacher. ⟦m⟧(o) is 1[m ∈ o] where words are attributes, and may be graded.

    L_b = H( b*(· | m), f(O, b, m) ),   b*(o | m) ∝ b(o) · S_0(m | o),   b random, every message that fits someone

It trains the likelihood without lapses (F-15), so that untrue messages become as unlikely as can be. Beliefs do not
determine how often a message is sent: one that is rare for every candidate leads to the same beliefs, but drowns in the
lapse rate. So the likelihood also fits the literal speaker, unless `grounding_target` is "belief" (F-36):

    L_s = H( S_0(· | o), P(· | o, O) ),   S_0(m | o) ∝ ⟦m⟧(o),   every candidate as the target

**Image encoders** learn along with the meanings in a grounded pair. In an ungrounded one they learn to tell images
apart, with no label but which image it is (F-23):

    loss = −log softmax_j( z_i · z'_j / τ )[i],   z, z' = the features of two augmented views of each image

A baseline's speaker has no belief, and its listener no model of the speaker: she learns by L_s, he by L_b (F-30).
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, PyTree

from implicature.agents.rsa import literal_teacher, normalize
from implicature.nn.image_encoder import FeatureRows, ImageEncoder, Images
from implicature.nn.likelihood import Present, Table, apply_net
from implicature.training.config import BASELINES, Config
from implicature.training.optimiser import Learner, Metrics, Step, apply_gradients
from implicature.training.task import GameData

Meaning = Bool[Array, "candidates messages *#games"] | Float[Array, "candidates messages *#games"]
"""⟦m⟧(o): Boolean, or graded in [0, 1]."""
IMAGES_PER_BATCH = 64
TEMPERATURE = 0.2
MAX_JITTER = 1 / 40
"""Augmentation shifts the crop by up to this fraction of the side."""

Trainable = tuple[PyTree, ImageEncoder | None]
"""What pretraining trains: a network and, in front of it, an image encoder."""


def augmented_view(key: Key[Array, ""], encoder: ImageEncoder, images: Images) -> FeatureRows:
    """The features of randomly shifted crops."""
    most = int(images.shape[1] * MAX_JITTER)
    return encoder(images, jax.random.randint(key, (len(images), 2), -most, most + 1))


def contrastive_loss(
    key: Key[Array, ""], encoder: ImageEncoder, images: Images, index: Int[Array, " batch"]
) -> Float[Array, " batch"]:
    """Find each image's second view among those of the others."""
    first, second = (unit(augmented_view(k, encoder, images[index])) for k in jax.random.split(key))
    # Where an image was drawn twice, the other is not a negative.
    same = (index[:, None] == index) & ~jnp.eye(len(index), dtype=bool)
    similarity = jnp.where(same, -jnp.inf, first @ second.T / TEMPERATURE)
    return -jnp.diagonal(jax.nn.log_softmax(similarity, axis=1))


def unit(features: FeatureRows) -> FeatureRows:
    return features / jnp.linalg.norm(features, axis=1, keepdims=True)


def belief_loss(
    key: Key[Array, ""], log_likelihood: Table, meaning: Meaning, present: Present | None = None
) -> Float[Array, "*#games"]:
    """L_b, the mean over messages that fit someone."""
    # Exponentials divided by their sum are uniform over the simplex.
    weights = jax.random.exponential(key, (len(meaning), *meaning.shape[2:]))
    prior = normalize(weights if present is None else weights * present, axis=0)
    exact = normalize(prior[:, None] * literal_teacher(meaning), axis=0)
    predicted = jax.nn.log_softmax(log_likelihood + jnp.log(prior + 1e-9)[:, None], axis=0)
    fits = jnp.any(meaning > 0, axis=0)
    return -jnp.sum(exact * predicted * fits, axis=(0, 1)) / jnp.maximum(jnp.sum(fits, axis=0), 1)


def speaker_loss(
    key: Key[Array, ""], log_likelihood: Table, meaning: Meaning, present: Present | None = None
) -> Float[Array, "*#games"]:
    """L_s, the mean over candidates as targets. Nothing is true of absent ones, which so count for nothing."""
    return jnp.mean(-jnp.sum(literal_teacher(meaning) * jax.nn.log_softmax(log_likelihood, axis=1), axis=1), axis=0)


def speaker_and_belief_loss(
    key: Key[Array, ""], log_likelihood: Table, meaning: Meaning, present: Present | None = None
) -> Float[Array, "*#games"]:
    return belief_loss(key, log_likelihood, meaning, present) + speaker_loss(key, log_likelihood, meaning)


GroundingLoss = Callable[[Key[Array, ""], Table, Meaning, Present | None], Float[Array, "*#games"]]


def grounding_loss(config: Config, agent: str) -> GroundingLoss:
    """Our agents fit both sides of the literal speaker, a baseline's agents each its own."""
    if config.method.method not in BASELINES:
        return speaker_and_belief_loss if config.grounding.grounding_target == "speaker" else belief_loss
    return speaker_loss if agent == "teacher" else belief_loss


def apply_pretraining_gradients(learner: Learner, gradient: PyTree, config: Config) -> Learner:
    grounding = config.grounding
    return apply_gradients(
        learner, gradient, config.optimiser, grounding.pretraining_iterations, grounding.pretraining_learning_rate
    )


def candidate_sets_with_images(data: GameData) -> int:
    """Candidate sets in a batch whose images are encoded anew."""
    return max(1, IMAGES_PER_BATCH // data.games.candidates.shape[1])


def grounding_step(config: Config, data: GameData, loss_of: GroundingLoss) -> Step:
    """Bayesian pretraining of one network, and of the image encoder before it."""

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Metrics]:
        games_key, prior_key, jitter_key = jax.random.split(key, 3)
        with_images = state.model[1] is not None
        sets = candidate_sets_with_images(data) if with_images else config.optimiser.batch
        observed = data.sample(games_key, sets, all_targets=False).candidates
        words = data.words_of(observed)

        def loss(model: Trainable) -> Array:
            net, encoder = model
            if encoder is None:
                features = words.features(data.observations[observed])
            else:
                images = data.observations[observed.reshape(-1)]
                features = augmented_view(jitter_key, encoder, images).reshape(*observed.shape, -1)
            literal = apply_net(net, features, words.ids, words.present).literal
            return jnp.mean(loss_of(prior_key, literal, words.meaning, words.present))

        value, gradient = eqx.filter_value_and_grad(loss)(state.model)
        return apply_pretraining_gradients(state, gradient, config), {"grounding_loss": value}

    return step


def contrastive_step(config: Config, data: GameData) -> Step:
    """The image encoder of an ungrounded pair learns to tell images apart, without any attribute."""

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Metrics]:
        games_key, jitter_key = jax.random.split(key)
        observed = data.sample(games_key, candidate_sets_with_images(data), all_targets=False).candidates.reshape(-1)

        def loss(model: tuple[PyTree, ImageEncoder]) -> Array:
            return jnp.mean(contrastive_loss(jitter_key, model[1], data.observations, observed))

        value, gradient = eqx.filter_value_and_grad(loss)(state.model)
        return apply_pretraining_gradients(state, gradient, config), {"contrastive_loss": value}

    return step

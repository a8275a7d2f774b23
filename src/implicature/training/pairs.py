"""New pairs: a teacher and a student of the same build, differently initialised. Every random key is used once."""

from collections.abc import Callable
from functools import partial

import jax
from jaxtyping import Array, Key

from implicature.agents.contracts import Pair
from implicature.agents.lazaridou import ContextFree, Informed, Listener, Matching, Speaker
from implicature.agents.student import LearnedStudent
from implicature.agents.teacher import LearnedTeacher
from implicature.nn.deep_sets import DeepSetsNet
from implicature.nn.exchange import ExchangeNet
from implicature.nn.image_encoder import Observations, feature_size, new_image_encoder
from implicature.nn.likelihood import AbstractBeliefNet
from implicature.training.config import Config

UNGROUNDED_MESSAGE_SCALE = 8.0
"""Without pretraining, the deep-sets network's message vectors start large (F-07)."""
NewNet = Callable[[Config, int, int, Key[Array, ""]], AbstractBeliefNet]
NewPair = Callable[[Key[Array, ""], Config, Observations, int], Pair]


def new_exchange_net(config: Config, features: int, messages: int, key: Key[Array, ""]) -> ExchangeNet:
    net, size = config.network, (features, messages)
    assert net.width is not None  # resolved
    return ExchangeNet(*size, key, net.width, net.layers, net.likelihood, net.lapse_rate, bool(net.freeze_semantics))


def new_deep_sets_net(config: Config, features: int, messages: int, key: Key[Array, ""]) -> DeepSetsNet:
    net, size = config.network, (features, messages)
    assert net.width is not None  # resolved
    scale = 1.0 if config.grounding.grounded else UNGROUNDED_MESSAGE_SCALE
    return DeepSetsNet(*size, key, net.width, net.layers, net.likelihood, net.lapse_rate, scale)


NETWORKS: dict[str, NewNet] = {"exchange": new_exchange_net, "deep-sets": new_deep_sets_net}


def new_pragmatic_pair(key: Key[Array, ""], config: Config, observations: Observations, messages: int) -> Pair:
    teacher_key, student_key, q_key, *encoder_keys = jax.random.split(key, 5)
    new_net = partial(NETWORKS[config.network.network], config, feature_size(observations), messages)
    beta = config.method.beta
    assert beta is not None  # resolved
    teacher = LearnedTeacher(new_net(teacher_key), config.network.q_hidden, q_key, config.network.q_reads_belief, beta)
    encoders = (new_image_encoder(encoder_key, observations) for encoder_key in encoder_keys)
    return Pair(teacher, LearnedStudent(new_net(student_key)), *encoders)


def new_baseline_pair(
    new_speaker: Callable[..., ContextFree | Informed],
    key: Key[Array, ""],
    config: Config,
    observations: Observations,
    messages: int,
) -> Pair:
    speaker_key, listener_key, *encoder_keys = jax.random.split(key, 4)
    width, temperature = config.network.width, config.method.temperature
    assert width is not None  # resolved
    size = feature_size(observations), messages
    encoders = (new_image_encoder(encoder_key, observations) for encoder_key in encoder_keys)
    speaker = Speaker(new_speaker(*size, speaker_key, width=width, temperature=temperature))
    return Pair(speaker, Listener(Matching(*size, listener_key, width=width, temperature=temperature)), *encoders)


def new_pair_2017(key: Key[Array, ""], config: Config, observations: Observations, messages: int) -> Pair:
    """The speaker sees target and distractors."""
    new_speaker = partial(Informed, filters=config.method.filters)
    return new_baseline_pair(new_speaker, key, config, observations, messages)


def new_pair_2018(key: Key[Array, ""], config: Config, observations: Observations, messages: int) -> Pair:
    """The speaker sees the target alone."""
    return new_baseline_pair(ContextFree, key, config, observations, messages)


NEW_PAIR: dict[str, NewPair] = {
    "pragmatic": new_pragmatic_pair,
    "la-2017": new_pair_2017,
    "la-2018": new_pair_2018,
}
"""Two new agents of each method."""

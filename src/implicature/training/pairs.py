"""New pairs: a teacher and a student of the same build, differently initialised. Every random key is used once."""

from collections.abc import Callable
from functools import partial

import jax
from jaxtyping import Array, Key

from implicature.agents.contracts import Pair
from implicature.agents.lazaridou import ContextFree, Informed, Listener, Matching, Speaker
from implicature.agents.student import LearnedStudent
from implicature.agents.teacher import LearnedTeacher
from implicature.extensions import look_up
from implicature.nn.deep_sets import CONTEXT_INIT_SCALE, DeepSetsNet
from implicature.nn.exchange import ExchangeNet
from implicature.nn.image_encoder import Observations, feature_size, new_image_encoder
from implicature.nn.likelihood import AbstractBeliefNet, AbstractLiveNet, AbstractMaskedNet
from implicature.nn.live_exchange import LiveExchangeNet
from implicature.training.config import Config

UNGROUNDED_MESSAGE_SCALE = 8.0
"""Without pretraining, the deep-sets network's message vectors start large (F-07)."""
NewNet = Callable[[Config, int, int, Key[Array, ""]], AbstractBeliefNet]
NewPair = Callable[[Key[Array, ""], Config, Observations, int], Pair]


def new_exchange_net(
    config: Config, features: int, messages: int, key: Key[Array, ""]
) -> ExchangeNet | LiveExchangeNet:
    net, size = config.network, (features, messages)
    assert net.width is not None  # resolved
    build = net.width, net.layers, net.likelihood, net.lapse_rate, bool(net.freeze_semantics), net.share_layers
    return LiveExchangeNet(messages, key, *build) if config.data.live_words else ExchangeNet(*size, key, *build)


def new_deep_sets_net(config: Config, features: int, messages: int, key: Key[Array, ""]) -> DeepSetsNet:
    net, size = config.network, (features, messages)
    assert net.width is not None  # resolved
    standard = net.initial_scales == "standard"
    message_scale = 1.0 if standard or config.grounding.grounded else UNGROUNDED_MESSAGE_SCALE
    context_scale = 1.0 if standard else CONTEXT_INIT_SCALE
    return DeepSetsNet(
        *size, key, net.width, net.layers, net.likelihood, net.lapse_rate, message_scale, net.context, context_scale
    )


NETWORKS: dict[str, NewNet] = {"exchange": new_exchange_net, "deep-sets": new_deep_sets_net}


def new_belief_net(config: Config, features: int, messages: int, key: Key[Array, ""]) -> AbstractBeliefNet:
    """The network that the config names, of the registry or of one's own."""
    name = config.network.network
    net = look_up(NETWORKS, name, "a network")(config, features, messages, key)
    if not isinstance(net, AbstractBeliefNet):
        raise ValueError(
            f"{name} gives {type(net).__name__}, not a belief network: derive it from AbstractBeliefNet "
            "(nn/likelihood.py)."
        )
    mixed = config.game.min_candidates != config.game.candidates
    if mixed and not isinstance(net, AbstractMaskedNet | AbstractLiveNet):
        raise ValueError(f"{name} does not take --min-candidates: derive it from AbstractMaskedNet (nn/likelihood.py).")
    return net


def new_pragmatic_pair(key: Key[Array, ""], config: Config, observations: Observations, messages: int) -> Pair:
    teacher_key, student_key, q_key, *encoder_keys = jax.random.split(key, 5)
    net, image_network, beta = config.network, config.encoder.image_network, config.method.beta
    noise, truthful = config.game.noise, config.game.truthful
    new_net = partial(new_belief_net, config, feature_size(observations, image_network), messages)
    assert beta is not None  # resolved
    out_scale = 1.0 if net.initial_scales == "standard" else 0.0
    teacher = LearnedTeacher(
        new_net(teacher_key), net.q_hidden, q_key, net.q_reads_belief, beta, out_scale, noise, truthful
    )
    encoders = (new_image_encoder(encoder_key, observations, image_network) for encoder_key in encoder_keys)
    return Pair(teacher, LearnedStudent(new_net(student_key), noise=noise), *encoders)


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
    image_network = config.encoder.image_network
    size = feature_size(observations, image_network), messages
    encoders = (new_image_encoder(encoder_key, observations, image_network) for encoder_key in encoder_keys)
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

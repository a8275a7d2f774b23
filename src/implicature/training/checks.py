"""Checks of settings together: flags that do not apply, sizes that do not fit into memory. A config checks the type
and the range of each by itself."""

from collections.abc import Callable

from implicature.spaces import Space
from implicature.training.config import BASELINES, PRESETS, Config
from implicature.training.fields import flag
from implicature.training.resolve import contexts_of, resolve

MAX_CELLS = 200_000_000
"""Numbers in the largest array of an iteration: almost a gigabyte."""

BASELINE_ONLY = ("entropy_bonus", "listener_entropy_bonus", "temperature")
PRAGMATIC_ONLY = (
    "rounds", "words", "truthful", "network", "layers", "share_layers", "context", "initial_scales", "likelihood",
    "lapse_rate", "freeze_semantics", "q_hidden", "q_reads_belief", "grounding_target", "first_learner", "beta",
    "epsilon", "gamma", "obverter_weight", "calibration_alpha", "reinforce_baseline", "feedback", "replay_batches",
    "target_update", "loss",
)  # fmt: skip
IGNORED: list[tuple[Callable[[Config], bool], tuple[str, ...], str]] = [
    (lambda c: c.method.method == "pragmatic", (*BASELINE_ONLY, "filters"), "--method pragmatic"),
    (lambda c: c.method.method == "la-2018", ("filters",), "--method la-2018"),
    (lambda c: c.method.method == "la-2017", PRAGMATIC_ONLY, "--method la-2017"),
    (lambda c: c.method.method == "la-2018", PRAGMATIC_ONLY, "--method la-2018"),
    (lambda c: c.network.network == "deep-sets", ("freeze_semantics", "share_layers"), "--network deep-sets"),
    (lambda c: c.network.network == "exchange", ("context",), "--network exchange"),
    (lambda c: c.encoder.encoder == "none", ("image_network",), "--encoder none"),
    (lambda c: not c.grounding.grounded, ("grounding_target", "freeze_semantics", "truthful"), "--no-grounded"),
    (lambda c: c.method.feedback == "none", ("obverter_weight",), "--feedback none"),
    (lambda c: c.method.credit == "expected", ("reinforce_baseline",), "--credit expected"),
    (lambda c: c.method.loss != "reinforce", ("credit", "reinforce_baseline"), "--loss of your own"),
    (lambda c: c.game.space is not None, ("game",), "--space"),
    (lambda c: contexts_of(c) == "random", ("context_temperature",), "--contexts random"),
    (lambda c: c.encoder.encoder == "none", ("images",), "--encoder none"),
    (lambda c: c.game.rounds * c.game.words == 1, ("gamma", "target_update"), "--rounds 1"),
]
"""When which settings have no effect."""


def check_ignored(config: Config, space: Space, candidates: int) -> None:
    """Raise an error for a setting that was changed and has no effect with the others. What a preset sets may have no
    effect: nobody asked for it."""
    values, defaults = config.flat(), Config().flat()
    presets = [preset.get(config.method.method, {}) for preset in PRESETS.values()]
    for when, names, because in IGNORED:
        if not when(config):
            continue
        # A resolved config has these values without anybody having asked for them.
        unset = config.replace(**{name: defaults[name] for name in names})
        resolved = resolve(unset, space, candidates).flat()
        for name in names:
            unasked = [defaults[name], resolved[name], *(preset[name] for preset in presets if name in preset)]
            if values[name] not in unasked:
                raise ValueError(f"{flag(name)} has no effect with {because}: leave out one of them.")


def check_config(config: Config) -> None:
    """Raise an error for settings that cannot be trained together."""
    if config.network.layers < 1 and config.network.network == "exchange" and config.method.method == "pragmatic":
        raise ValueError("--layers is 0: the exchange network has 1 or more.")
    if config.network.share_layers and config.network.layers < 2:
        raise ValueError("--share-layers with one layer, the first, shares nothing: ask for --layers 2 or more.")
    epsilon = config.method.epsilon
    if epsilon != (0, 0) and not all(1e-6 <= probability <= 1 for probability in epsilon):
        raise ValueError(
            "--epsilon takes two probabilities from 0.000001 to 1, of exploring at the start and the end (0.95 0.05), "
            "or 0 0 for no exploration."
        )
    if config.game.question is not None and config.method.feedback == "correct":
        raise ValueError(
            "--feedback correct says whether the target was found, but --question asks for its cell: give back the "
            "belief or the answer."
        )
    if config.optimiser.population > 1:
        if config.method.method in BASELINES:
            raise ValueError(
                f"--population changes the fixed partner of a learner, but the agents of {config.method.method} learn "
                "together: leave it out."
            )
        if config.optimiser.seeds > 1:
            raise ValueError("--population trains one population: start one run for each, not with --seeds.")


def check_whole_class(config: Config, candidates: int, space: Space) -> None:
    """Raise an error where not all instances would be candidates of a game that is to have them all."""
    if not config.data.whole_class:
        return
    if candidates != space.instances:
        raise ValueError(
            f"--whole-class takes all {space.instances:,} instances of {space.name} as candidates, not {candidates:,}: "
            "leave out one of the two."
        )
    if config.data.train_instance_fraction < 1:
        raise ValueError("--whole-class leaves no instance unseen: leave out --train-instance-fraction.")


def check_min_candidates(config: Config, candidates: int) -> None:
    """Raise an error where games cannot have different numbers of candidates."""
    fewest = config.game.min_candidates
    if fewest is None or fewest == candidates:
        return
    if fewest > candidates:
        raise ValueError(f"--min-candidates is {fewest}, but --candidates is {candidates}: ask for fewer.")
    if config.method.method in BASELINES or config.network.network == "deep-sets":
        raise ValueError("--min-candidates needs the exchange network: leave out one of the two.")
    if config.data.whole_class:
        raise ValueError("--whole-class takes all instances as candidates: leave out --min-candidates.")
    if config.encoder.encoder != "none" and not config.grounding.grounded:
        raise ValueError("--min-candidates with images needs a grounded pair: leave out --no-grounded.")


def check_size(config: Config, candidates: int, space: Space) -> None:
    """Raise an error for what would fill the memory, before anything does."""
    messages, width = config.data.live_words or len(space.words), config.network.width or 1
    optimiser = config.optimiser
    games = optimiser.batch * (candidates if optimiser.all_targets else 1)
    exchange = config.method.method == "pragmatic" and config.network.network == "exchange"
    cell_width = width if exchange else max(1, width // 4)
    arrays = [
        games * candidates * messages * cell_width,
        optimiser.pairs * config.method.replay_batches * games * config.game.rounds * config.game.words * candidates,
        optimiser.pairs * config.network.layers * (16 * cell_width**2 + cell_width * messages),
    ]
    if space.images is not None and config.encoder.encoder != "none":
        arrays.append(optimiser.batch * candidates * space.images[0, 0].size)
    if max(arrays) > MAX_CELLS:
        raise ValueError(
            f"Batches of {optimiser.batch:,} sets of {candidates:,} candidates with {messages:,} messages do "
            "not fit into memory: ask for a smaller --candidate-sets, --width or --replay-batches, or fewer --seeds."
        )

"""Everything a run is made of, by concern; flat on the command line. No JAX here: the command line shows it as help.

A field that depends on others is None until `resolve` fills it in. A run keeps the resolved config.
"""

import dataclasses
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, get_type_hints

import tyro

from implicature.games.rules import MAX_CANDIDATES, Contexts, Rules
from implicature.training.fields import Range, Registered, check_field, declared

OWN = "MODULE:OBJECT"
BASELINES = ("la-2017", "la-2018")
Network = Annotated[str, Registered(("exchange", "deep-sets")), tyro.conf.arg(metavar=f"{{exchange,deep-sets}}|{OWN}")]
Method = Annotated[
    str, Registered(("pragmatic", "la-2017", "la-2018")), tyro.conf.arg(metavar=f"{{pragmatic,la-2017,la-2018}}|{OWN}")
]
Loss = Annotated[str, Registered(("reinforce",)), tyro.conf.arg(metavar=f"{{reinforce}}|{OWN}")]
Count = Annotated[int, Range(1, 10**9)]
Seed = Annotated[int, Range(0, 2**31 - 1_001)]
Weight = Annotated[float, Range(0, 1e4)]


@dataclass(frozen=True)
class GameConfig:
    """Which game."""

    game: str = "numbers-4"
    """The game: numbers-4, numbers-7, objects-4, objects-7; emoji-7, emoji-16, emoji-50 with near contexts; or
    appointment, in which both players know something."""
    space: str | None = None
    """A space of your own instead: a CSV or JSON file, a folder of images with a CSV, or module:object, made by a
    program (then say how many --candidates)."""
    images: str | None = None
    """Other images of the same instances: a folder, such as `implicature render --jitter` makes (F-25)."""
    candidates: int | None = None
    """Candidates in a game; by default those of the named game."""
    min_candidates: Annotated[int, Range(2, MAX_CANDIDATES)] | None = None
    """The fewest candidates of a training game: games of so many to --candidates are mixed in every batch, so that one
    pair plays with any number of them. By default --candidates, the same in all games (paper) (F-65)."""
    contexts: Contexts | None = None
    """How candidates are drawn (paper: random): any instances, or neighbours, which share words with one of them. By
    default near in the emoji games, else random (F-63)."""
    context_temperature: Annotated[float, Range(0, 1000)] | None = None
    """τ of near contexts, from nearest (0) to random (large); by default 0.02 (F-63)."""
    rounds: int = 1
    """The maximum number of messages in a game (paper: 1 in its experiments)."""
    message_cost: float = 0.0
    """What each message costs both agents, or each word of it with --words (paper: c_m, no value; a right answer is
    worth 1) (F-45)."""
    words: Annotated[int, Range(1, 10)] = 1
    """The most words in a message (paper: 1). They are said and understood one after the other; a word that is repeated
    is free, so that a message may be shorter."""
    noise: float = 0.0
    """Channel noise ε: how likely a word is received as another one; both agents know it (paper: none) (F-56)."""
    truthful: bool = False
    """Whether the teacher of a grounded pair may say only what is true of the target, also while she explores (paper:
    any word) (F-60)."""
    question: str | None = None
    """The question under discussion: a category of the attributes, such as colour, or one attribute. An answer with the
    target's colour is right. By default the target itself is to be found."""

    def rules(self, candidates: int) -> Rules:
        """The rules of a game with so many candidates."""
        return Rules(candidates, self.rounds * self.words, self.message_cost, self.noise, self.words)


@dataclass(frozen=True)
class DataConfig:
    """Which games are for training."""

    train_games: Annotated[int, Range(1, 10**8)] | None = None
    """Training games drawn in advance (paper: 600k); by default 600,000, or 100,000 with near contexts, which take
    longer to draw."""
    train_instance_fraction: Annotated[float, Range(0, 1, True)] = 1.0
    """The fraction of instances used in training; 0.7 leaves 30 % unseen."""
    live_words: Annotated[int, Range(0, 10**5)] | None = None
    """Words in a game: those that are true of some candidate, and others up to this number; 0: the whole vocabulary. By
    default as many as the games need where the vocabulary has more than 256 words, which are the attributes, and the
    network is the exchange network; else 0 (F-64)."""
    split_seed: Seed = 0
    """Seed of the train / validation / test split of games and instances."""
    whole_class: bool = False
    """All instances are the candidates of every game, in training and in testing: one class of concepts, say, that a
    pair learns to teach (F-78)."""


@dataclass(frozen=True)
class EncoderConfig:
    """How candidates are seen."""

    encoder: Literal["none", "frozen", "finetuned"] | None = None
    """none: agents read attributes. frozen: an image encoder, pretrained before phase 1 and then fixed. finetuned: it
    goes on learning from the game. By default frozen where the space has images (F-22)."""
    image_network: Literal["patches", "cnn"] = "patches"
    """The image encoder: patches of the image and of a crop around the object, or a plain convolutional network, as the
    paper has it (F-22)."""


@dataclass(frozen=True)
class NetworkConfig:
    """The belief network and the Q head."""

    network: Network = "exchange"
    """The belief network: on the candidates × messages table (F-05), or appendix B's, candidate embeddings with a
    context; as written only with --preset as-written. module:object is one of your own (docs/extending.md)."""
    width: Annotated[int, Range(1, 4096)] | None = None
    """Hidden units: channels of the exchange network (default 16), units of the deep-sets network (64) or of a
    baseline's embeddings (64; authors' code: 50) (F-50)."""
    layers: Annotated[int, Range(0, 100)] = 3
    """Exchange layers, or context blocks of the deep-sets network (authors' code: 2) (F-50)."""
    share_layers: bool = False
    """All exchange layers have the same weights, so that `evaluate --layers N` may apply more or fewer of them than in
    training (F-66)."""
    context: Literal["mean", "sum"] = "mean"
    """The deep-sets network's context: the mean of the candidates' embeddings, or their sum (appendix B) (F-34)."""
    initial_scales: Literal["tuned", "standard"] = "tuned"
    """The deep-sets network's initial weights: small contexts, large message vectors in an ungrounded pair and a Q head
    that starts at zero, or the standard scale for all (F-07)."""
    likelihood: Literal["softmax", "sigmoid"] = "softmax"
    """Whether messages compete for a candidate (F-06; appendix B: sigmoid)."""
    lapse_rate: Annotated[float, Range(0, 0.999)] = 0.05
    """The probability of a random message in both agents' likelihoods (F-15)."""
    freeze_semantics: bool | None = None
    """Whether pretrained word meanings stay fixed while use changes. By default in a grounded exchange pair whose image
    encoder, if any, is frozen (F-20)."""
    q_hidden: Annotated[int, Range(0, 4096)] = 32
    """Hidden units of the Q head; 0 for a single fully connected layer (appendix B) (F-37)."""
    q_reads_belief: bool = True
    """Whether Q also reads the predicted belief in the target (F-08)."""


@dataclass(frozen=True)
class GroundingConfig:
    """Pretraining, before phase 1."""

    grounded: bool = True
    """Start with messages that mean attributes (Bayesian pretraining) instead of at random."""
    pretraining_iterations: Annotated[int, Range(0, 10**9)] = 3_000
    """Iterations of pretraining: word meanings for a grounded pair, and image encoders (F-51, F-23)."""
    pretraining_learning_rate: Annotated[float, Range(0, 0.999, True)] | None = None
    """Adam's learning rate in pretraining; by default --learning-rate, a quarter of it for word meanings in the
    deep-sets network (F-11)."""
    grounding_target: Literal["speaker", "belief"] = "speaker"
    """What Bayesian pretraining fits: the literal speaker's messages and the beliefs they lead to, or those beliefs
    alone (paper) (F-36)."""


@dataclass(frozen=True)
class OptimiserConfig:
    """How long and in which steps."""

    phases: Annotated[int, Range(0, 1_000)] = 3
    """Phases of a teacher half and a student half (paper: 3); in a baseline's phases both learn together."""
    iterations: Count = 1_000
    """Iterations of each half phase (paper: 10,000), or of each phase of a baseline (paper: 100,000 in all) (F-47)."""
    candidate_sets: Annotated[int, Range(1, 2**16)] | None = None
    """Candidate sets in a batch (authors' code: 128); by default 256, or fewer where candidates × words are more than
    512, for the sake of memory (F-10)."""
    all_targets: bool = True
    """Play each candidate set with every candidate as the target, not with one (F-10)."""
    learning_rate: Annotated[float, Range(0, 0.999, True)] = 3e-3
    """The optimiser's learning rate, or its peak (F-11)."""
    schedule: Literal["cosine", "constant"] = "cosine"
    """cosine: a linear warm-up over a tenth of a half phase, then a cosine decay to 2 %. constant: neither (F-11)."""
    gradient_clip: Annotated[float, Range(0, 1e6)] = 1.0
    """Gradients are clipped to this norm; 0 for no clipping (F-11)."""
    optimiser: Literal["adam", "rmsprop"] = "adam"
    """Adam, or RMSProp (authors' code for Lazaridou et al. 2018)."""
    weight_decay: Annotated[float, Range(0, 10)] = 0.0
    """Decoupled weight decay (AdamW); against overfitting the training instances (F-35)."""
    seed: Seed = 0
    """Seed of everything but the splits."""
    seeds: Annotated[int, Range(1, 1_000)] = 1
    """Pairs trained at once, each from a seed of its own."""
    population: Annotated[int, Range(1, 100)] = 1
    """Teachers and students of one population: in each batch a learner plays with a random partner of the other role
    (paper: one pair) (F-75)."""

    @property
    def pairs(self) -> int:
        """Teachers, and students, in the run."""
        return self.seeds * self.population

    @property
    def batch(self) -> int:
        """The candidate sets in a batch of a resolved config."""
        assert self.candidate_sets is not None
        return self.candidate_sets


@dataclass(frozen=True)
class MethodConfig:
    """Algorithm 1, or a baseline."""

    method: Method = "pragmatic"
    """Theory-of-mind agents in turns (Algorithm 1), or a baseline whose agents learn together by REINFORCE: Lazaridou
    et al. 2017, whose speaker sees target and distractors, or 2018, whose speaker sees the target alone (F-31).
    module:object is one of your own (docs/extending.md)."""
    first_learner: Literal["teacher", "student"] | None = None
    """Who adapts first in a phase (paper: the teacher); by default the student in a grounded pair (F-17)."""
    beta: Weight | None = None
    """β of the teacher's softmax (authors' code: 10 or 20); by default 20 with up to 4 candidates, else 10, and four
    times as much in games of several rounds (F-16)."""
    epsilon: tuple[float, float] = (0.95, 0.05)
    """The teacher's exploration at the start and the end of her half (authors' code); 0 0 for none, as in Algorithm 1,
    whose teacher samples from π_A alone (F-38)."""
    gamma: Annotated[float, Range(0, 1)] | None = None
    """Discount of later rewards (authors' code: 0.6; the return itself is not discounted); by default 1 (F-12). Within
    a message of several words by default 0.5: a word is worth what he would make of it alone and what may follow, half
    each (F-56)."""
    obverter_weight: Weight = 1.0
    """λ, the weight of the obverter loss (paper: no value) (F-44)."""
    calibration_alpha: Annotated[float, Range(0, 10)] | None = None
    """α: the student's optimal belief is the posterior to the power 1/α; with 0 (REINFORCE as written) it is
    deterministic. By default 1 in a grounded pair, else 0 (F-18)."""
    loss: Loss = "reinforce"
    """What the student minimises: REINFORCE with the credit and the baseline below, or module:object, a loss of your
    own (docs/extending.md)."""
    credit: Literal["expected", "sampled"] = "expected"
    """The student's gradient: in expectation over his answers, or from the sampled answer (paper) (F-19)."""
    reinforce_baseline: Literal["belief", "batch", "none"] = "belief"
    """What is subtracted from the student's return: what he expects by his own belief, the mean of the batch (authors'
    code), or nothing (paper) (F-13)."""
    feedback: Literal["belief", "answer", "correct", "none"] = "belief"
    """What the student returns to the teacher in training: his belief (paper), only the answer he gave (log₂ K bits),
    only whether it was right (one bit), or nothing (F-42)."""
    replay_batches: Annotated[int, Range(1, 10_000)] = 16
    """The replay buffer, in batches (paper: no size; authors' code: no buffer) (F-43)."""
    target_update: Count = 100
    """Iterations between copies of the Q-network to the target network; in one round it is not used (F-40)."""
    entropy_bonus: Weight = 0.1
    """A baseline's entropy bonus for both agents at the start; falls to 0 (F-33)."""
    listener_entropy_bonus: Weight | None = None
    """The listener's, where it differs from the speaker's; by default --entropy-bonus (2018: .001 beside .01)."""
    temperature: Annotated[float, Range(1e-6, 1e6)] = 1.0
    """τ, by which a baseline's logits are divided (F-33; 2017: 10)."""
    filters: Annotated[int, Range(1, 1024)] = 16
    """Filters of the speaker of 2017 (authors' code: 20)."""


@dataclass(frozen=True)
class Config:
    """How a pair is trained."""

    game: GameConfig = field(default_factory=GameConfig)
    data: DataConfig = field(default_factory=DataConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    grounding: GroundingConfig = field(default_factory=GroundingConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    method: MethodConfig = field(default_factory=MethodConfig)

    def __post_init__(self) -> None:
        """Every config is checked, on the command line and in Python."""
        for group, kind in GROUPS.items():
            if not isinstance(given := getattr(self, group), kind):
                raise ValueError(
                    f"Config({group}=…) is {given!r:.60}: give a {kind.__name__}, or settings by their own names with "
                    "Config.of(…)."
                )
        for name, value in self.flat().items():
            check_field(name, HINTS[name], value)
        self.game.rules(2 if self.game.candidates is None else self.game.candidates)

    @staticmethod
    def of(preset: str | None = None, **values: Any) -> "Config":
        """A config by the names of the command line's flags, as differences from the defaults or from a preset.

        >>> implicature.Config.of(game="numbers-7", iterations=500).optimiser.iterations
        500
        """
        if preset is None:
            return game_config(values.get("game")).replace(**values)
        return preset_config(preset, values.get("method", "pragmatic")).replace(**values)

    def replace(self, **values: Any) -> "Config":
        """With other values, by the names of the command line's flags."""
        groups: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            if name not in GROUP_OF:
                raise TypeError(f"{name} is not a setting: choose among {', '.join(sorted(GROUP_OF))}.")
            groups.setdefault(GROUP_OF[name], {})[name] = declared(name, HINTS[name], value)
        changed = {group: dataclasses.replace(getattr(self, group), **new) for group, new in groups.items()}
        return dataclasses.replace(self, **changed)

    def flat(self) -> dict[str, Any]:
        """All settings by the names of the command line's flags."""
        return {name: getattr(getattr(self, group), name) for name, group in GROUP_OF.items()}


GROUPS: dict[str, type] = {
    "game": GameConfig, "data": DataConfig, "encoder": EncoderConfig, "network": NetworkConfig,
    "grounding": GroundingConfig, "optimiser": OptimiserConfig, "method": MethodConfig,
}  # fmt: skip
GROUP_OF: dict[str, str] = {one.name: group for group, kind in GROUPS.items() for one in fields(kind)}
HINTS: dict[str, Any] = {
    name: hint for kind in GROUPS.values() for name, hint in get_type_hints(kind, include_extras=True).items()
}

AUTHORS_BASELINE: dict[str, Any] = {
    "iterations": 100_000,  # section 5.1
    "phases": 1, "grounded": False, "all_targets": False, "credit": "sampled",
    "width": 50, "learning_rate": 1e-3, "schedule": "constant", "gradient_clip": 0.0,  # authors' code
}  # fmt: skip
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "as-written": {
        "pragmatic": {
            "grounded": False,  # section 5.1; --grounded for sections 5.2 to 5.4
            "phases": 3, "iterations": 10_000,  # section 5.1: 3 phases of 20k iterations, agents switched in the middle
            "pretraining_iterations": 10_000, "grounding_target": "belief",  # section 5.2; its length: as a half phase
            "first_learner": "teacher", "credit": "sampled", "calibration_alpha": 0.0,  # Algorithm 1
            "reinforce_baseline": "none", "epsilon": (0.0, 0.0),  # Algorithm 1, lines 37 and 16
            "network": "deep-sets", "context": "sum", "likelihood": "sigmoid", "lapse_rate": 0.0,  # appendix B
            "q_hidden": 0, "q_reads_belief": False,  # appendix B: a fully connected layer on two weighted sums
            "image_network": "cnn",  # section 5.1 and appendix B
            "initial_scales": "standard",  # "randomly initialize"
            "layers": 2, "candidate_sets": 128, "all_targets": False,  # authors' code
            "learning_rate": 1e-4, "pretraining_learning_rate": 1e-3,  # authors' code
            "schedule": "constant", "gradient_clip": 0.0,  # authors' code
        },
        "la-2017": {
            **AUTHORS_BASELINE, "candidate_sets": 128, "filters": 20, "temperature": 10.0, "entropy_bonus": 0.0,
        },
        "la-2018": {
            **AUTHORS_BASELINE, "candidate_sets": 100, "temperature": 0.01, "optimiser": "rmsprop",
            "entropy_bonus": 0.01, "listener_entropy_bonus": 0.001,
        },
    },
}  # fmt: skip
"""Sets of defaults by name and method, each with its source: an explicit flag always wins. Every sentence of the paper
stands beside them in docs/paper-line-by-line.md, and below it what is neither the text's nor the authors' code's: width
64, the replay buffer, λ = 1, the length of pretraining."""


GAME_DEFAULTS: dict[str, dict[str, Any]] = {
    "appointment": {
        "message_cost": 0.1, "train_instance_fraction": 0.7, "phases": 10, "iterations": 300, "width": 16,
        "beta": 20.0, "weight_decay": 0.1, "learning_rate": 5e-3,
    },
}  # fmt: skip
"""Of games that have defaults of their own (F-72)."""


def game_config(game: str | None) -> Config:
    """The defaults of a game."""
    own = GAME_DEFAULTS.get(game or "")
    return Config() if own is None else Config().replace(game=game, **own)


def preset_config(preset: str, method: str = "pragmatic") -> Config:
    """The defaults of a preset."""
    if preset not in PRESETS:
        raise ValueError(f"No preset is called {preset!r}: choose one of {', '.join(PRESETS)}.")
    return Config().replace(method=method, **PRESETS[preset].get(method, {}))

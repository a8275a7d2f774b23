"""Everything a run is made of, by concern; flat on the command line. No JAX here: the command line shows it as help.

A field that depends on others is None until `resolve` fills it in. A run keeps the resolved config.
"""

import dataclasses
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, NamedTuple


class Range(NamedTuple):
    """The values a number may have."""

    low: float
    high: float
    low_excluded: bool = False

    def contains(self, value: Any) -> bool:
        return self.low <= value <= self.high and not (self.low_excluded and value == self.low)


Count = Annotated[int, Range(1, 10**9)]
Seed = Annotated[int, Range(0, 2**31 - 1_001)]
Weight = Annotated[float, Range(0, 1e4)]


@dataclass(frozen=True)
class GameConfig:
    """Which game."""

    game: str = "numbers-4"
    """The game: numbers-4, numbers-7, objects-4, objects-7."""
    space: str | None = None
    """A space of your own instead: a CSV or JSON file, or a folder of images with a CSV (then say how many
    --candidates)."""
    images: str | None = None
    """Other images of the same instances: a folder, such as `implicature render --jitter` makes (F-25)."""
    candidates: int | None = None
    """Candidates in a game; by default those of the named game."""
    rounds: int = 1
    """The maximum number of messages in a game (paper: 1 in its experiments)."""
    message_cost: float = 0.0
    """What each message costs both agents (paper: c_m; a right answer is worth 1)."""


@dataclass(frozen=True)
class DataConfig:
    """Which games are for training."""

    train_games: Annotated[int, Range(1, 10**8)] = 600_000
    """Training games drawn in advance (paper: 600k)."""
    train_instance_fraction: Annotated[float, Range(0, 1, True)] = 1.0
    """The fraction of instances used in training; 0.7 leaves 30 % unseen."""
    split_seed: Seed = 0
    """Seed of the train / validation / test split of games and instances."""


@dataclass(frozen=True)
class EncoderConfig:
    """How candidates are seen."""

    encoder: Literal["none", "frozen", "finetuned"] | None = None
    """none: agents read attributes. frozen: an image encoder, pretrained before phase 1 and then fixed. finetuned: it
    goes on learning from the game. By default frozen where the space has images (F-22)."""


@dataclass(frozen=True)
class NetworkConfig:
    """The belief network and the Q head."""

    network: Literal["exchange", "deep-sets"] = "exchange"
    """The belief network: on the candidates × messages table (F-05), or appendix B's with the changes F-06, F-07 and
    F-34."""
    width: Annotated[int, Range(1, 4096)] | None = None
    """Hidden units: channels of the exchange network (default 16), units of the deep-sets network (64) or of a
    baseline's embeddings (64; authors' code: 50)."""
    layers: Annotated[int, Range(0, 100)] = 3
    """Exchange layers, or context blocks of the deep-sets network."""
    likelihood: Literal["softmax", "sigmoid"] = "softmax"
    """Whether messages compete for a candidate (F-06; appendix B: sigmoid)."""
    lapse_rate: Annotated[float, Range(0, 0.999)] = 0.05
    """The probability of a random message in both agents' likelihoods (F-15)."""
    freeze_semantics: bool | None = None
    """Whether pretrained word meanings stay fixed while use changes. By default in a grounded exchange pair whose image
    encoder, if any, is frozen (F-20)."""
    q_hidden: Annotated[int, Range(1, 4096)] = 32
    """Hidden units of the Q head."""
    q_reads_belief: bool = True
    """Whether Q also reads the predicted belief in the target (F-08)."""


@dataclass(frozen=True)
class GroundingConfig:
    """Pretraining, before phase 1."""

    grounded: bool = True
    """Start with messages that mean attributes (Bayesian pretraining) instead of at random."""
    pretraining_iterations: Annotated[int, Range(0, 10**9)] = 3_000
    """Iterations of pretraining: word meanings for a grounded pair, and image encoders (F-23)."""
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
    """Iterations of each half phase (paper: 10,000), or of each phase of a baseline (paper: 100,000 in all)."""
    candidate_sets: Annotated[int, Range(1, 2**16)] = 256
    """Candidate sets in a batch (authors' code: 128) (F-10)."""
    all_targets: bool = True
    """Play each candidate set with every candidate as the target, not with one (F-10)."""
    learning_rate: Annotated[float, Range(0, 0.999, True)] = 3e-3
    """Adam's, after a linear warm-up over a tenth of a half phase; falls to 2 % by a cosine (F-11)."""
    weight_decay: Annotated[float, Range(0, 10)] = 0.0
    """AdamW's; against overfitting the training instances (F-35)."""
    seed: Seed = 0
    """Seed of everything but the splits."""
    seeds: Annotated[int, Range(1, 1_000)] = 1
    """Pairs trained at once, each from a seed of its own."""


@dataclass(frozen=True)
class MethodConfig:
    """Algorithm 1, or a baseline."""

    method: Literal["pragmatic", "la-2017", "la-2018"] = "pragmatic"
    """Theory-of-mind agents in turns (Algorithm 1), or a baseline whose agents learn together by REINFORCE: Lazaridou
    et al. 2017, whose speaker sees target and distractors, or 2018, whose speaker sees the target alone (F-31)."""
    first_learner: Literal["teacher", "student"] | None = None
    """Who adapts first in a phase (paper: the teacher); by default the student in a grounded pair (F-17)."""
    beta: Weight | None = None
    """β of the teacher's softmax (authors' code: 10 or 20); by default 20 with up to 4 candidates, else 10, and four
    times as much in games of several rounds (F-16)."""
    epsilon: tuple[float, float] = (0.95, 0.05)
    """The teacher's exploration at the start and the end of her half (authors' code)."""
    gamma: Annotated[float, Range(0, 1)] = 1.0
    """Discount of later rewards (authors' code: 0.6; the return itself is not discounted) (F-12)."""
    obverter_weight: Weight = 1.0
    """λ, the weight of the obverter loss."""
    calibration_alpha: Annotated[float, Range(0, 10)] | None = None
    """α: the student's optimal belief is the posterior to the power 1/α; with 0 (REINFORCE as written) it is
    deterministic. By default 1 in a grounded pair, else 0 (F-18)."""
    credit: Literal["expected", "sampled"] = "expected"
    """The student's gradient: in expectation over his answers, or from the sampled answer (paper) (F-19)."""
    replay_batches: Annotated[int, Range(1, 10_000)] = 16
    """The replay buffer, in batches."""
    target_update: Count = 100
    """Iterations between copies of the Q-network to the target network."""
    entropy_bonus: Weight = 0.1
    """A baseline's entropy bonus for both agents at the start; falls to 0 (F-33)."""
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

    @staticmethod
    def of(preset: str | None = None, **values: Any) -> "Config":
        """A config by the names of the command line's flags, as differences from the defaults or from a preset.

        >>> implicature.Config.of(game="numbers-7", iterations=500).optimiser.iterations
        500
        """
        defaults = Config() if preset is None else preset_config(preset, values.get("method", "pragmatic"))
        return defaults.replace(**values)

    def replace(self, **values: Any) -> "Config":
        """With other values, by the names of the command line's flags."""
        groups: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            if name not in GROUP_OF:
                raise TypeError(f"{name} is not a setting: choose among {', '.join(sorted(GROUP_OF))}.")
            groups.setdefault(GROUP_OF[name], {})[name] = value
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

PAPER_BASELINE = {
    "iterations": 100_000, "candidate_sets": 128, "phases": 1, "grounded": False, "learning_rate": 1e-3,
    "all_targets": False, "credit": "sampled",
}  # fmt: skip
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "paper": {
        "pragmatic": {
            **PAPER_BASELINE, "network": "deep-sets", "likelihood": "sigmoid", "iterations": 10_000, "phases": 3
        },
        "la-2017": {**PAPER_BASELINE, "temperature": 10.0},
        "la-2018": PAPER_BASELINE,
    },
}  # fmt: skip
"""Sets of defaults by name and method: an explicit flag always wins."""


def preset_config(preset: str, method: str = "pragmatic") -> Config:
    """The defaults of a preset."""
    if preset not in PRESETS:
        raise ValueError(f"No preset is called {preset!r}: choose one of {', '.join(PRESETS)}.")
    return Config().replace(method=method, **PRESETS[preset].get(method, {}))

"""Everything a run is made of. No JAX here: the command line shows it as help."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Config:
    """How a pair is trained."""

    game: str = "numbers-4"
    """The game: numbers-4, numbers-7, objects-4, objects-7."""
    space: str | None = None
    """A space of your own instead: a CSV or JSON file, or a folder of pictures with a CSV (then say how many
    --candidates)."""
    pictures: str | None = None
    """Other pictures of the same things: a folder, such as `implicature render --jitter` makes (F-25)."""
    candidates: int | None = None
    """Candidates in a game; by default those of the named game."""
    rounds: int = 1
    """The most messages a game may have (paper: 1 in its experiments)."""
    message_cost: float = 0.0
    """What each message costs both (paper: c_m; a right answer is worth 1)."""
    method: Literal["pragmatic", "la-2017", "la-2018"] = "pragmatic"
    """Theory of mind agents in turns (Algorithm 1), or a baseline whose agents learn together by REINFORCE: Lazaridou
    et al. 2017, whose speaker sees target and distractors, or 2018, whose speaker sees the target alone (F-31)."""
    grounded: bool = True
    """Begin with messages that mean attributes (Bayesian pretraining) instead of at random."""
    sight: Literal["auto", "symbols", "cached", "end-to-end"] = "auto"
    """How candidates are seen: as attributes (symbols); in pictures, with eyes that learn before the first phase and
    then stay (cached) or go on learning from the game (end-to-end). auto: cached where there are pictures (F-22)."""
    network: Literal["exchange", "paper"] = "exchange"
    """The belief network: on the candidates × messages table (F-05), or appendix B as written."""
    likelihood: Literal["softmax", "sigmoid"] = "softmax"
    """How messages compete for a candidate (F-06; appendix B: sigmoid)."""
    lapse: float = 0.05
    """The chance that a message is just anything, as both models of each other see it (F-15)."""
    lexicon: bool = True
    """A grounded exchange pair keeps what words were taught to mean; only how it uses them changes (F-20)."""
    width: int = 16
    """Channels of the exchange network's cells; the paper network is four times as wide (F-07), and so are a baseline's
    embeddings (authors' code: 50), where the speaker of 2017 has so many filters (authors' code: 20)."""
    depth: int = 3
    """Rounds of exchange, or context blocks of the paper network."""
    reads_belief: bool = True
    """The value head also reads the predicted belief in the target (F-08)."""
    phases: int = 3
    """Phases of a teacher half and a student half (paper: 3); in those of a baseline both learn together."""
    first: Literal["auto", "teacher", "student"] = "auto"
    """Who adapts first in a phase (paper: the teacher); auto: the student if the pair is grounded (F-17)."""
    iterations: int = 1_000
    """Iterations of each half phase (paper: 10,000), or of each phase of a baseline (paper: 100,000 in all)."""
    pretraining: int = 3_000
    """Iterations of Bayesian pretraining, for a grounded pair, or of looking, for one that sees (F-23)."""
    lessons: Literal["words", "beliefs"] = "words"
    """What Bayesian pretraining teaches our agents: the literal teacher's words and the beliefs they lead to, or those
    beliefs alone (paper) (F-36)."""
    batch: int = 256
    """Sets of candidates an iteration (authors' code: 128) (F-10)."""
    every_target: bool = True
    """Play each set with every candidate as the target, not with one (F-10)."""
    learning_rate: float = 3e-3
    """Adam's, once the first tenth of a half phase has led up to it; falls by a cosine to 2 % (F-11)."""
    weight_decay: float = 0.0
    """How strongly weights are drawn to 0 (AdamW's): less is learned by heart, for candidates never seen (F-35)."""
    beta: float | None = None
    """β of the teacher's softmax (authors' code: 10 or 20); by default 20 with up to 4 candidates, else 10, and four
    times as much in games of several rounds (F-16)."""
    epsilon: tuple[float, float] = (0.95, 0.05)
    """The teacher's exploration at the start and the end of her half (authors' code)."""
    gamma: float = 1.0
    """Discount of later rewards (authors' code: 0.6; the gain itself is not discounted) (F-12)."""
    obverter: float = 1.0
    """λ, the weight of the obverter loss."""
    calibration: float | None = None
    """α: the student's best belief is the posterior to the power 1/α; 0 (REINFORCE as written) makes him as sure as can
    be. By default 1 in a grounded pair, else 0 (F-18)."""
    answers: Literal["every", "one"] = "every"
    """The student learns from every answer that he might have given, or from the one that he gave (paper) (F-19)."""
    entropy: float = 0.1
    """A baseline's entropy bonus for both agents at the start; falls to 0 (F-33)."""
    temperature: float = 1.0
    """τ, by which a baseline's scores are divided (F-33; 2017: 10)."""
    replay: int = 16
    """The replay buffer, in batches."""
    target_update: int = 100
    """Iterations between copies of the Q-network to the target network."""
    train_games: int = 600_000
    """Training games drawn in advance (paper: 600k)."""
    instances: float = 1.0
    """The share of instances used in training; 0.7 leaves 30 % unseen."""
    split: int = 0
    """Seed of the train / validation / test split of games and instances."""
    seed: int = 0
    """Seed of everything else."""
    seeds: int = 1
    """Pairs trained at once, each from a seed of its own."""

"""Simulated participants on the games that participants get: can a fit be trusted, and with how many decisions?

A simulated participant decides at random, or by the model that is fitted: depth t, rationality β and lapse rate λ.
As the student they hear the page's exact teacher. The games are those of the seeds 0, 1, 2, … of a link to the page.
"""

from collections import Counter
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Array, Float

from implicature.agents.exact import ExactModel
from implicature.evaluation.people import (
    BETAS,
    LITERAL,
    MODELS,
    N_DEPTHS,
    RANDOM,
    DecisionArrays,
    choice_grid,
    fit_grid,
    predict_options,
)  # fmt: skip
from implicature.web.dealing import PlayableGame, deal_game, pad_candidates, padded_lexicon, uniform_prior

TEACHER_DEPTH = 3
"""Of the exact agent, as the page opens."""
BETA, LAPSE = 10.0, 0.05
"""Of simulated participants."""
MAX_TRIALS, MAX_PEOPLE = 500, 2_000


@dataclass(frozen=True, eq=False)
class Session:
    """The games of one session with what is predicted for every option of each."""

    decisions: DecisionArrays
    options: Float[np.ndarray, "betas depths decisions options"]


@jax.jit
def student_table(lexicon: Array, prior: Array, share: Array) -> Array:
    return ExactModel(TEACHER_DEPTH, share=share).tables(lexicon, prior)[1]


def deal_session(game: PlayableGame, role: str, trials: int, pragmatic_only: bool = True) -> Session:
    """So many games of one round, in one role."""
    lexicons, targets, messages, sizes = [], [], [], []
    for seed in range(trials):
        dealt = deal_game(game, None, None, seed, pragmatic_only, 1)
        rows = pad_candidates(np.array([dealt.instances]), game.space.instances)[0]
        lexicon = padded_lexicon(game)[rows]
        prior = uniform_prior(len(dealt.instances), len(rows))
        student = np.asarray(student_table(lexicon, prior, np.asarray(game.share)))
        lexicons.append(lexicon)
        targets.append(dealt.target)
        messages.append([int(np.where(lexicon[dealt.target], student[dealt.target], -1).argmax())])
        sizes.append(len(dealt.instances))
    is_teacher, words = np.full(trials, role == "teacher"), np.full(trials, game.space.table.shape[1])
    answer, share = np.full(trials, -1), np.full(trials, game.share)
    columns = np.array(lexicons), np.array(sizes), words, np.array(messages), is_teacher, np.array(targets)
    decisions = DecisionArrays(*columns, answer, share)
    return Session(decisions, predict_options(decisions))


def simulate_choices(random: np.random.Generator, session: Session, kind: str, beta: float, lapse: float) -> np.ndarray:
    """What a participant of this kind chooses, game by game."""
    n_options, number = session.decisions.n_options, len(session.decisions.target)
    if kind == RANDOM:
        return random.integers(n_options)
    depth = 0 if kind == LITERAL else int(kind.split()[1])
    setting = int(np.abs(np.log(BETAS / beta)).argmin())
    table = session.options[setting, depth].astype(np.float64)
    real = np.arange(table.shape[1]) < n_options[:, None]
    table = np.where(real, (1 - lapse) * table + lapse / n_options[:, None], 0)
    sums = table.cumsum(axis=1)
    return (random.random((number, 1)) * sums[:, -1:] > sums).sum(axis=1)


def recovery(
    session: Session, kind: str, people: int, beta: float = BETA, lapse: float = LAPSE, seed: int = 0
) -> dict[str, float]:
    """How often people of one kind are called what they are, and something else."""
    random = np.random.default_rng([seed, MODELS.index(kind)])
    called: Counter[str] = Counter()
    inside = better = 0
    depth = None if kind == RANDOM else 0 if kind == LITERAL else int(kind.split()[1])
    for _ in range(people):
        choice = simulate_choices(random, session, kind, beta, lapse)
        n_options = session.decisions.n_options
        fit = fit_grid(choice_grid(session.options, choice, n_options), n_options)
        called[fit.model] += 1
        better += fit.better_than_chance
        if depth is not None and fit.depth_low is not None:
            inside += fit.depth_low <= depth <= (N_DEPTHS if fit.depth_high is None else fit.depth_high)
    shares = {f"called {name}": called[name] / people for name in MODELS}
    return {**shares, "recovered": called[kind] / people, "inside": inside / people, "better": better / people}

"""What the exact recursion predicts that people answer, for every rationality on a grid and every depth.

    speaker of depth t    S_t(m | o),   S_t+1(m | o) ∝ X[o, m] · exp(β U(L_t(o | m)))
                          U(p) = p ("belief") or log p ("log")
    listener of depth t   L_t(o | m) ∝ b(o) · S_t(m | o)

The measured prior b enters where `PriorUse` says. A literal speaker picks any true word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from implicature.agents.rsa import Start, normalize, recursion, soft_teacher, student
from implicature.evaluation.human.items import Answers, Item, PriorUse, Role, uniform

Utility = Literal["belief", "log"]
UTILITIES = {"belief": lambda belief: belief, "log": jnp.log}
RATIONALITY = tuple(float(x) for x in np.geomspace(0.05, 50, 151).round(4))
LAPSES = tuple(float(x) for x in np.linspace(0, 1, 101).round(4))
MIN_DEPTH = 3
"""Smaller depths are computed along, so that they share a compiled program."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """P(answer) of one model for each item, before lapses. Components are the kinds of people in a mixture."""

    name: str
    table: Float[np.ndarray, "settings components items options"]
    rationality: tuple[float, ...]
    """Of each setting; where there are several, it is a free parameter. Empty where the model has none."""
    components: tuple[str, ...]
    lapses: tuple[float, ...] = LAPSES
    """The lapse rates to choose from; several make it a free parameter."""
    equal_weights: bool = False
    """Whether all kinds of people are equally frequent; if not, their proportions are fitted."""

    @property
    def n_parameters(self) -> int:
        proportions = 0 if self.equal_weights else len(self.components) - 1
        return (len(self.table) > 1) + (len(self.lapses) > 1) + proportions


def pad(items: Sequence[Item], prior_use: PriorUse) -> tuple[np.ndarray, ...]:
    """Truth tables, what was given, the posterior's prior and the recursion's; padded with candidates of prior 0."""
    candidates, words = (max(item.lexicon.shape[axis] for item in items) for axis in (0, 1))
    truth = np.zeros((len(items), candidates, words), bool)
    measured, flat = np.zeros((2, len(items), candidates), np.float32)
    for i, item in enumerate(items):
        n, m = item.lexicon.shape
        truth[i, :n, :m], flat[i, :n] = item.lexicon, uniform(n)
        measured[i, :n] = flat[i, :n] if prior_use == "uniform" else item.prior
    given = np.array([item.given for item in items])
    return truth, given, measured, measured if prior_use == "both" else flat


@partial(jax.jit, static_argnames=("depth", "utility", "start", "role"))
def answer_tables(
    rationality: Float[Array, " settings"], columns: tuple[Array, ...], depth: int, utility: Utility, start: Start,
    role: Role,
) -> Float[Array, "settings depths items answers"]:  # fmt: skip
    def one(beta: Array, truth: Array, given: Array, prior: Array, recursion_prior: Array) -> Array:
        def respond(truth: Array, belief: Array) -> Array:
            return soft_teacher(truth, UTILITIES[utility](belief), beta)

        solved = recursion(truth, respond, depth, start, recursion_prior)
        if role == "speaker":
            return normalize(solved.teacher[:, given], axis=1)
        return jax.vmap(lambda said, surprised: student(said, prior, surprised)[:, given])(
            solved.teacher, solved.student
        )

    by_item = jax.vmap(one, (None, 0, 0, 0, 0), out_axes=1)
    return jax.vmap(by_item, (0, None, None, None, None))(rationality, *columns)


def exact_predictions(
    answers: Answers,
    depths: Sequence[int],
    rationality: Sequence[float] = RATIONALITY,
    utility: Utility = "belief",
    start: Start = "share",
    prior_use: PriorUse | None = None,
    lapses: Sequence[float] = LAPSES,
    name: str = "",
    equal_weights: bool = False,
) -> Predictions:
    """The exact recursion of one depth, or a mixture of several. At depth 0 rationality has no effect."""
    settings = tuple(rationality) if max(depths) > 0 else (1.0,)
    columns = pad(answers.items, prior_use or answers.prior_use)
    tables = answer_tables(
        jnp.asarray(settings, jnp.float32),
        tuple(map(jnp.asarray, columns)),
        max(MIN_DEPTH, *depths),
        utility,
        start,
        answers.role,
    )
    chosen = np.asarray(tables, np.float64)[:, list(depths)]
    label = name or f"exact, depth {' '.join(map(str, depths))}, {utility}"
    known = () if max(depths) == 0 else settings
    kinds = tuple(f"depth {t}" for t in depths)
    return Predictions(label, select_options(chosen, answers.items), known, kinds, tuple(lapses), equal_weights)


def select_options(
    table: Float[np.ndarray, "*settings items answers"], items: Sequence[Item]
) -> Float[np.ndarray, "*settings items options"]:
    """Each item's options from probabilities of all candidates or words, normalised; options are padded with 0."""
    chosen = np.zeros((*table.shape[:-1], max(len(item.options) for item in items)))
    for i, item in enumerate(items):
        among = table[..., i, list(item.options)]
        total = among.sum(axis=-1, keepdims=True)
        chosen[..., i, : len(item.options)] = np.where(total > 0, among / np.where(total > 0, total, 1), 0)
    return chosen


def fixed_predictions(
    name: str, table: Float[np.ndarray, "items options"], lapses: Sequence[float] = LAPSES
) -> Predictions:
    """A player whose probabilities are given: nothing but lapses is fitted."""
    return Predictions(name, table[None, None], (), ("",), tuple(lapses))


def chance_predictions(answers: Answers) -> Predictions:
    """Every option is as likely."""
    table = np.zeros(answers.cells.shape)
    for i, options in enumerate(answers.option_counts):
        table[i, :options] = 1 / options
    return fixed_predictions("chance", table, (0.0,))

"""One game solved exactly: what each message means at each depth, and how hard each candidate is to name."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from implicature.agents.exact_spec import ExactSpec
from implicature.agents.rsa import Start, greedy_accuracy, no_clash
from implicature.evaluation.teaching_dimension import levels, teaching_dimensions
from implicature.games.context_arrays import ContextArrays, context_arrays
from implicature.spaces.lexicon import TRUE_FROM

BUDGET = 200_000
"""Steps of the search for teaching sets: two seconds at worst, since a person is waiting."""


@dataclass(frozen=True)
class DepthTables:
    """L_t and S_t; with start="indicator", S_0 is the truth itself rather than a chance."""

    depth: int
    student: list[list[float]]
    """[message][candidate]"""
    teacher: list[list[float]]
    """[candidate][message]"""


@dataclass(frozen=True)
class Explanation:
    """The fields of `--json`. Lists with an entry for each candidate are in their order."""

    candidates: list[list[str]]
    """The attributes of each, or the words that are true of it."""
    messages: list[str]
    level: list[int | None]
    td: list[int | None]
    """Positive examples, at least one; None where none single the candidate out."""
    rtd: list[int | None]
    exact: bool
    """Whether TD and RTD are; else they are upper bounds."""
    no_clash: list[str | None]
    accuracy: list[float]
    """The probability of finding the candidate at the last depth if both choose what is best."""
    depths: list[DepthTables]
    names: list[str] = field(default_factory=list)
    """The candidates as they were typed."""
    player: str | None = None
    """Whose tables the last are; None: the exact recursion's."""
    meaning: list[list[float]] | None = None
    """[candidate][message], where words are more or less true; None where each is true or false."""


def explain_candidates(
    candidates: list[list[str]], depth: int = 6, beta: float = 10.0, start: Start = "share"
) -> Explanation:
    """What each message comes to mean among these candidates, and how hard each of them is to name."""
    return explain_context(context_arrays(*candidates), ExactSpec(depth, beta=beta, start=start), candidates)


def explain_context(context: ContextArrays, spec: ExactSpec, shown: list[list[str]] | None = None) -> Explanation:
    """The same of a context in which words may be graded and cost something; `shown` is what each candidate is shown
    as, by default the words that are true of it."""
    model = spec.model()
    found = model.recursion(context, context.prior, spec.depth)
    depths = [
        DepthTables(t, student.T.tolist(), teacher.tolist())
        for t, (student, teacher) in enumerate(zip(found.student, found.teacher, strict=True))
    ]
    accuracy = greedy_accuracy(context.lexicon, found.teacher[-1], found.student[-1], context.cells, model.noise)
    return describe(context, depths, accuracy, shown)


def describe(
    context: ContextArrays,
    depths: list[DepthTables],
    accuracy: Float[np.ndarray, " candidates"],
    shown: list[list[str]] | None,
) -> Explanation:
    messages, truth = list(context.words), context.lexicon >= TRUE_FROM
    taught = teaching_dimensions(truth, positive=True, min_size=1, budget=BUDGET)
    true_words = [[word for word, true in zip(messages, row, strict=True) if true] for row in truth]
    return Explanation(
        true_words if shown is None else shown,
        messages,
        [None if i < 0 else i for i in levels(truth).tolist()],
        list(taught.td),
        list(taught.rtd),
        taught.exact,
        [None if i < 0 else messages[i] for i in no_clash(truth).tolist()],
        accuracy.tolist(),
        depths,
        list(context.candidates),
        meaning=None if context.lexicon.dtype == bool else context.lexicon.tolist(),
    )

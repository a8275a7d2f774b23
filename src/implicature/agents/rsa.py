"""The exact recursion: pragmatics computed, not learned. ⟦m⟧(o) is 1 where m is true of o, or graded.

    S_0(m | o) ∝ ⟦m⟧(o)                               literal teacher: "share"; or S_0 = ⟦m⟧(o) itself: "indicator"
    L_t(o | m) ∝ b(o) · S_t(m | o)                    student of depth t, prior belief b
    S_t+1(m | o) ∝ 1[⟦m⟧(o) > 0] · exp(β U(m | o))    teacher of depth t+1; U = L_t(o | m), or as agents/utility.py says

β → ∞ is iterated best response: she picks uniformly among her best true messages. A message that no teacher of depth t
would send leaves the student of depth t with what the student of depth t-1 made of it (F-03). With several lexica ℒ,
whose probabilities both know (Bergen, Levy and Goodman 2016), she knows which one she uses, and he does not:

    L_1(o | m) ∝ b(o) · Σ_ℒ P(ℒ) S_1(m | o, ℒ),  S_1 responding to L_0(o | m, ℒ)      then as above

The no-clash protocol gives each candidate a true message of its own, by maximum bipartite matching.

Every function takes one game, as NumPy or as JAX arrays; the caller batches with `vmap`. The recursion also takes many
games as the last axis, which is what XLA:CPU vectorises best (`map_blocks` in nn/kernels.py).
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from jaxtyping import Bool, Float, Int

from implicature.agents.utility import Cells, Costs, Table, Utility, over_cells, through_channel, utilities
from implicature.array_api import AnyArray, log, namespace, repeat

Truth = Bool[AnyArray, "candidates messages"]
Meaning = Bool[AnyArray, "candidates messages *#games"] | Float[AnyArray, "candidates messages *#games"]
"""Boolean, or graded in [0, 1]."""
LogTable = Float[AnyArray, "candidates messages *#games"]
"""Logarithms, −∞ for 0: at a large β a probability may underflow float32 and still be informative."""
Belief = Float[AnyArray, "candidates *#games"]
Start = Literal["share", "indicator"]

TIE = 1e-5
"""Values closer than this are tied; ties are broken at random."""


def normalize(weights: Float[AnyArray, "..."], axis: int) -> Float[AnyArray, "..."]:
    """Weights divided by their sum along the axis; all zero stays all zero."""
    xp = namespace(weights)
    total = xp.sum(weights, axis=axis, keepdims=True)
    return weights / xp.where(total > 0, total, 1)


def subtract_max(logarithms: Float[AnyArray, "..."], axis: int) -> Float[AnyArray, "..."]:
    """Logarithms minus their maximum along the axis, safe to exponentiate; all −∞ stays all −∞."""
    xp = namespace(logarithms)
    largest = xp.max(logarithms, axis=axis, keepdims=True)
    return logarithms - xp.where(largest > -xp.inf, largest, 0)


def literal_teacher(meaning: Meaning, start: Start = "share") -> Table:
    """S_0: any true message, chosen at random ("share"), or its truth value alone ("indicator")."""
    said = meaning.astype("float32")
    return normalize(said, axis=1) if start == "share" else said


def student(teacher: Table, prior: Belief, surprised: Table) -> Table:
    """L_t: what a student who expects this teacher believes after each message, column by column."""
    return log_student(log(teacher), prior, surprised)


def log_student(teacher: LogTable, prior: Belief, surprised: Table) -> Table:
    """L_t of a teacher given in logarithms."""
    xp = namespace(teacher, prior, surprised)
    weights = xp.exp(subtract_max(log(prior)[:, None] + teacher, axis=0))
    return xp.where(xp.sum(weights, axis=0) > 0, normalize(weights, axis=0), surprised)


def hear(teacher: LogTable, noise: float) -> LogTable:
    """What he expects to hear of this teacher, in logarithms."""
    return teacher if noise == 0 else log(through_channel(namespace(teacher).exp(teacher), noise))


def soft_teacher(
    meaning: Meaning,
    belief: Table,
    beta: float | Float[AnyArray, ""],
    *,
    utility: Utility = "belief",
    costs: Costs | None = None,
    cells: Cells | None = None,
    noise: float = 0.0,
) -> LogTable:
    """log S_t+1."""
    value = utilities(belief, utility, costs, cells, noise)
    xp = namespace(meaning, value)
    exponent = subtract_max(xp.where(meaning > 0, beta * value, -xp.inf), axis=1)
    total = xp.sum(xp.exp(exponent), axis=1, keepdims=True)
    return exponent - log(xp.maximum(total, 1))  # at least 1, but 0 for a candidate without words


def hard_teacher(
    meaning: Meaning,
    belief: Table,
    *,
    utility: Utility = "belief",
    costs: Costs | None = None,
    cells: Cells | None = None,
    noise: float = 0.0,
) -> LogTable:
    """log S_t+1 for β → ∞: uniform over the true messages that are worth most."""
    xp, true = namespace(meaning, belief), meaning > 0
    value = xp.where(true, utilities(belief, utility, costs, cells, noise), -xp.inf)
    best = true & (value >= xp.max(value, axis=1, keepdims=True) - TIE)
    return log(normalize(best.astype("float32"), axis=1))


class Recursion(NamedTuple):
    """Teacher S_t and student L_t for t = 0 … depth."""

    teacher: Float[AnyArray, "depths candidates messages *games"]
    student: Float[AnyArray, "depths candidates messages *games"]


def recursion(
    meaning: Meaning,
    respond: Callable[[Meaning, Table], LogTable],
    depth: int,
    start: Start,
    prior: Belief | None = None,
    noise: float = 0.0,
) -> Recursion:
    """S_0, L_0, S_1 = respond(L_0), L_1 …: the teacher responds to each student, the student expects each teacher."""
    xp, (candidates, _, *games) = namespace(meaning), meaning.shape
    before = xp.full((candidates, *[1] * len(games)), 1 / candidates, "float32") if prior is None else prior
    teachers = [log(literal_teacher(meaning, start))]
    students = [log_student(hear(teachers[0], noise), before, xp.broadcast_to(before[:, None], meaning.shape))]
    for _ in range(depth):
        teachers.append(respond(meaning, students[-1]))
        students.append(log_student(hear(teachers[-1], noise), before, students[-1]))
    return Recursion(xp.exp(xp.stack(teachers)), xp.stack(students))


def soft_recursion(
    truth: Meaning, depth: int, beta: float = 10.0, start: Start = "share", prior: Belief | None = None
) -> Recursion:
    """Teachers with rationality β whose utility is his belief in the target."""
    return recursion(truth, lambda truth, belief: soft_teacher(truth, belief, beta), depth, start, prior)


def hard_recursion(truth: Meaning, depth: int, start: Start = "indicator", prior: Belief | None = None) -> Recursion:
    """Iterated best response with ties broken evenly."""
    return recursion(truth, hard_teacher, depth, start, prior)


def no_clash(truth: Truth) -> Int[AnyArray, " candidates"]:
    """A true message of its own for as many candidates as can have one (Kuhn's augmenting paths); -1 for the rest."""
    xp, (candidates, messages) = namespace(truth), truth.shape

    def give(newcomer: AnyArray, owner: Int[AnyArray, " messages"]) -> Int[AnyArray, " messages"]:
        """Find the newcomer a message, moving earlier owners to others of theirs where needed."""

        # Breadth first over messages: asker[m] is the candidate through whom m was reached, -1 where it was not.
        def spread(_: AnyArray, asker: Int[AnyArray, " messages"]) -> Int[AnyArray, " messages"]:
            displaced = xp.any((owner[:, None] == xp.arange(candidates)) & (asker >= 0)[:, None], axis=0)
            asking = truth & (displaced | (xp.arange(candidates) == newcomer))[:, None]
            found = xp.where(xp.any(asking, axis=0), xp.argmax(asking, axis=0), -1)
            return xp.where(asker >= 0, asker, found)

        asker = repeat(xp, candidates, spread, xp.full(messages, -1))
        free = (asker >= 0) & (owner < 0)

        # Walk back from a free message: its asker takes it and gives up the one it had, which its asker takes …
        def take(_: AnyArray, state: tuple[AnyArray, AnyArray, AnyArray]) -> tuple[AnyArray, AnyArray, AnyArray]:
            owner, message, walking = state
            taker = asker[message]
            had = xp.where(xp.any(owner == taker), xp.argmax(owner == taker), -1)
            owner = xp.where(walking & (xp.arange(messages) == message), taker, owner)
            return owner, xp.maximum(had, 0), walking & (had >= 0)

        return repeat(xp, candidates, take, (owner, xp.argmax(free), xp.any(free)))[0]

    owner = repeat(xp, candidates, give, xp.full(messages, -1))
    mine = owner[None, :] == xp.arange(candidates)[:, None]
    return xp.where(xp.any(mine, axis=1), xp.argmax(mine, axis=1), -1)


def greedy_accuracy(
    truth: Meaning, teacher_value: Table, belief: Table, cells: Cells | None = None, noise: float = 0.0
) -> Belief:
    """The chance that each candidate, as the target, is found: she says her best true message, he picks his best
    candidate (or cell), and both toss coins where values tie."""
    xp, true, belief = namespace(truth, teacher_value, belief), truth > 0, over_cells(belief, cells)
    value = xp.where(true, teacher_value, -xp.inf)
    said = true & (value >= xp.max(value, axis=1, keepdims=True) - TIE)
    likely = (belief > 0) & (belief >= xp.max(belief, axis=0, keepdims=True) - TIE)
    guess = over_cells(normalize(likely.astype("float32"), axis=0), cells)
    return xp.sum(through_channel(normalize(said.astype("float32"), axis=1), noise) * guess, axis=1)

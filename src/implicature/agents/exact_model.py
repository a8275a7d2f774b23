"""The model that exact players have of each other: the recursion of rsa.py with its options, for any belief.

    L_0, S_1, L_1 …   from what is literally true, or from several lexica of which she knows hers (rsa.py)
    a mixture         Σ_t w_t S_t+1 and Σ_t w_t L_t, where the depth is uncertain

For one game, as NumPy or as JAX arrays; importing this imports no JAX.
"""

from dataclasses import dataclass
from math import isinf
from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int

from implicature.agents.rsa import (
    TIE,
    Belief,
    LogTable,
    Meaning,
    Recursion,
    Table,
    hard_teacher,
    hear,
    literal_teacher,
    log_student,
    normalize,
    soft_teacher,
    subtract_max,
)
from implicature.agents.utility import Cells, Costs, Utility, utilities
from implicature.array_api import AnyArray, log, namespace, repeat

BETA = 10.0
UNTRUE = -1.0
"""The value of a message that she may not send, where values are beliefs; else it is −∞."""

Messages = Float[AnyArray, " messages"]
Tables = tuple[LogTable, Table]
"""log S_t and L_t."""


@runtime_checkable
class AnyContext(Protocol):
    """A context of NumPy's or of JAX's arrays."""

    @property
    def lexicon(self) -> AnyArray: ...

    @property
    def costs(self) -> AnyArray | None: ...

    @property
    def cells(self) -> AnyArray | None: ...

    @property
    def lexica(self) -> AnyArray | None: ...

    @property
    def lexica_prior(self) -> AnyArray | None: ...


@dataclass(frozen=True, eq=False)
class ExactModel:
    """What both know of each other: how deep the student reasons, how rational he takes the teacher to be, and what
    she values."""

    depth: int | Int[AnyArray, ""]
    beta: float | Float[AnyArray, ""] = BETA
    """β, called α where the utility is log; ∞ is iterated best response."""
    share: bool | Bool[AnyArray, ""] = True
    """How the recursion starts: "share", or else "indicator"."""
    utility: Utility = "belief"
    noise: float = 0.0
    """ε of the channel."""
    depth_weights: tuple[float, ...] = ()
    """A mixture of depths 0, 1, … with these probabilities, in place of one depth."""

    @property
    def hard(self) -> bool:
        return isinstance(self.beta, float) and isinf(self.beta)

    def respond(self, meaning: Meaning, belief: Table, costs: Costs | None, cells: Cells | None) -> LogTable:
        """log S_t+1 from L_t."""
        if self.hard:
            return hard_teacher(meaning, belief, utility=self.utility, costs=costs, cells=cells, noise=self.noise)
        return soft_teacher(
            meaning, belief, self.beta, utility=self.utility, costs=costs, cells=cells, noise=self.noise
        )

    def start(self, meaning: Meaning, belief: Belief) -> Tables:
        """log S_0 and L_0."""
        share, indicator = literal_teacher(meaning, "share"), literal_teacher(meaning, "indicator")
        xp = namespace(meaning, belief)
        literal = log(xp.where(self.share, share, indicator))
        return literal, log_student(hear(literal, self.noise), belief, xp.tile(belief[:, None], meaning.shape[1]))

    def deeper(
        self, meaning: Meaning, belief: Belief, costs: Costs | None, cells: Cells | None, tables: Tables
    ) -> Tables:
        """log S_t+1 and L_t+1 from those of depth t."""
        teacher = self.respond(meaning, tables[1], costs, cells)
        return teacher, log_student(hear(teacher, self.noise), belief, tables[1])

    def first(self, context: AnyContext, belief: Belief) -> Tables:
        """log S_1 and L_1 where lexica are uncertain: each teacher knows her lexicon, he weighs them all."""
        assert context.lexica is not None
        assert context.lexica_prior is not None
        costs, cells = context.costs, context.cells

        def of_lexicon(meaning: Float[AnyArray, "candidates messages"]) -> LogTable:
            return self.respond(meaning, self.start(meaning, belief)[1], costs, cells)

        xp = namespace(belief)
        each = xp.exp(xp.stack([of_lexicon(meaning) for meaning in context.lexica]))
        teacher = log(xp.tensordot(context.lexica_prior, each, axes=1))
        return teacher, log_student(hear(teacher, self.noise), belief, self.start(context.lexicon, belief)[1])

    def tables(
        self, meaning: Meaning, belief: Belief, costs: Costs | None = None, cells: Cells | None = None
    ) -> tuple[Table, Table]:
        """S_t and L_t: what he expects her to say, and what he believes after each message."""
        start = self.start(meaning, belief)
        step = lambda _, tables: self.deeper(meaning, belief, costs, cells, tables)  # noqa: E731
        xp = namespace(meaning, belief)
        teacher, student = repeat(xp, self.depth, step, start)
        return xp.exp(teacher), student

    def recursion(self, context: AnyContext, belief: Belief, depth: int) -> Recursion:
        """S_t and L_t for t = 0 … depth."""
        tables = [self.start(context.lexicon, belief)]
        for t in range(depth):
            if t == 0 and context.lexica is not None:
                tables.append(self.first(context, belief))
            else:
                tables.append(self.deeper(context.lexicon, belief, context.costs, context.cells, tables[-1]))
        xp = namespace(belief)
        return Recursion(xp.exp(xp.stack([t for t, _ in tables])), xp.stack([student for _, student in tables]))

    def beliefs(self, context: AnyContext, belief: Belief) -> Table:
        """What the student believes after each message: L_t, or the mixture of several."""
        if not self.depth_weights and context.lexica is None:
            return self.tables(context.lexicon, belief, context.costs, context.cells)[1]
        if not self.depth_weights:
            return self.recursion(context, belief, int(self.depth)).student[-1]
        students = self.recursion(context, belief, len(self.depth_weights) - 1).student
        return self.mixture(students)

    def values(self, context: AnyContext, belief: Belief, target: int | Int[AnyArray, ""]) -> Messages:
        """U of every message for the target; with a mixture of depths, log Σ_t w_t S_t+1."""
        sayable = context.lexicon[target] > 0
        if self.depth_weights:
            teachers = self.recursion(context, belief, len(self.depth_weights)).teacher[1:, target]
            return log(self.mixture(teachers))
        value = utilities(self.beliefs(context, belief), self.utility, context.costs, context.cells, self.noise)[target]
        bounded = self.utility == "belief" and context.costs is None
        xp = namespace(sayable, value)
        return xp.where(sayable, value, UNTRUE if bounded else -xp.inf)

    def mixture(self, by_depth: Float[AnyArray, "depths *rest"]) -> Float[AnyArray, "*rest"]:
        xp = namespace(by_depth)
        return xp.tensordot(xp.asarray(self.depth_weights, by_depth.dtype), by_depth, axes=1)

    def message_probabilities(self, values: Messages) -> Messages:
        """S_t+1 ∝ exp(β U), true messages only."""
        xp = namespace(values)
        if self.depth_weights:
            return normalize(xp.exp(values), axis=0)
        untrue = xp.isneginf(values) if self.utility == "log" else xp.isneginf(values) | (values == UNTRUE)
        if self.hard:
            best = ~untrue & (values >= xp.max(xp.where(untrue, -xp.inf, values)) - TIE)
            return normalize(best.astype("float32"), axis=0)
        exponent = subtract_max(xp.where(untrue, -xp.inf, self.beta * values), axis=0)
        return normalize(xp.exp(exponent), axis=0)

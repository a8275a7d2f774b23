"""What a message is worth to the teacher who responds to a student L, and what a noisy channel makes of it.

    belief      U(m | o) = L(o | m) − c_m            ours: his chance of guessing right, minus the cost
    log         U(m | o) = log L(o | m) − c_m        the usual rational speech act (Frank and Goodman 2012)
    question    L(o | m) stands for Σ L(o' | m) over the o' in the cell of o               (Kao et al. 2014)
    channel     P(h | m) = 1 − ε if h = m, else ε / (M − 1)                        (Bergen and Goodman 2015)
                he expects to hear  S̃(h | o) = Σ_m S(m | o) P(h | m);  she expects  U(m | o) = Σ_h P(h | m) U(h | o)

Every function takes one game; the caller batches with `vmap`. Without costs and a question, games may be last axes.
"""

from collections.abc import Callable
from typing import Literal

from jaxtyping import Float, Int

from implicature.array_api import AnyArray, log, namespace

Table = Float[AnyArray, "candidates messages *#games"]
Costs = Float[AnyArray, " messages"]
Cells = Int[AnyArray, " candidates"]
Utility = Literal["belief", "log"]

UTILITIES: dict[str, Callable[[Table], Table]] = {"belief": lambda belief: belief, "log": log}


def over_cells(belief: Float[AnyArray, "candidates *rest"], cells: Cells | None) -> Float[AnyArray, "candidates *rest"]:
    """For each candidate, the belief in its whole cell."""
    if cells is None:
        return belief
    same = (cells[:, None] == cells[None, :]).astype(belief.dtype)
    return namespace(belief, cells).tensordot(same, belief, axes=1)


def through_channel(table: Table, noise: float) -> Table:
    """Σ_m table[o, m] P(h | m) for every h: P is symmetric, so that this serves both directions."""
    messages = table.shape[1]
    if noise == 0 or messages < 2:
        return table
    other = noise / (messages - 1)
    return (1 - noise - other) * table + other * namespace(table).sum(table, axis=1, keepdims=True)


def utilities(
    belief: Table,
    utility: Utility = "belief",
    costs: Costs | None = None,
    cells: Cells | None = None,
    noise: float = 0.0,
) -> Table:
    """U of every message for every candidate as the target."""
    value = through_channel(UTILITIES[utility](over_cells(belief, cells)), noise)
    return value if costs is None else value - costs

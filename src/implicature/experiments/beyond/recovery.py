"""Does the fit of `implicature study` find what simulated participants were simulated with?

`implicature study --power --out results/recovery.csv` makes the rows; this module renders them.
"""

from implicature.experiments.results import Result
from implicature.experiments.table import Row, Table

KEY = ("game", "role", "kind", "trials", "pragmatic_only", "beta", "lapse")
KINDS = ("random", "literal", "depth 1", "depth 2", "depth 3", "depth 4")


def render(results: list[Result]) -> list[Table]:
    """Of 100 people of each kind, how many are called what."""
    rows = []
    for one in results:
        called = [percent(one[f"called {kind}"]) for kind in KINDS]
        inside = "" if one["kind"] == "random" else percent(one["inside"])
        label = f"{one['game']}, {one['role']}, {one['trials']} decisions: {one['kind']}"
        rows.append(Row(label, [percent(one["recovered"]), inside, *called]))
    return [Table("simulated as", ["recovered", "depth in interval", *(f"called {kind}" for kind in KINDS)], rows)]


def percent(value: object) -> str:
    return f"{100 * float(str(value)):.0f} %"

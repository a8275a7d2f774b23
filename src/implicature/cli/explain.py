"""`implicature explain`."""

from typing import Annotated, Literal

import tyro


def explain(
    candidates: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="CANDIDATE …")],
    target: Annotated[int | None, tyro.conf.arg(metavar="N")] = None,
    depth: int = 6,
    beta: float = 10.0,
    start: Literal["share", "indicator"] = "share",
    space: Annotated[str | None, tyro.conf.arg(metavar="SPACE")] = None,
    json: bool = False,
) -> None:
    """Show what each message means literally, and when teacher and student reason about each other.

    Example: implicature explain blue,sphere red,sphere blue,cone --target 1

    Args:
        candidates: Each argument is one candidate, its attributes by name with commas between: 1,2,3,9 1,2,4 2,3
        target: Mark the N-th candidate, from 1, as the target, and explain it alone.
        depth: The depth of the recursion, 0 (literal) to 100.
        beta: The teacher's rationality, 0 to 1000: how strongly she prefers the message that he understands best.
        start: The literal teacher: "share" picks any true message, 1/|o| each; "indicator" only weighs truth.
        space: Where the names come from: numbers-10, numbers-12, objects, a .csv or .json file, whose
            instances may be candidates by name, too, or a folder. Without it any names will do.
        json: Print one JSON object instead.
    """
    from implicature.explanation.terminal import print_explanation

    print_explanation(list(candidates), target, depth=depth, beta=beta, start=start, json=json, space=space)

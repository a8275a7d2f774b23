"""`implicature explain`."""

from typing import Annotated, Literal

import tyro


def explain(
    candidates: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="CANDIDATE …")],
    target: Annotated[int | None, tyro.conf.arg(metavar="N")] = None,
    depth: int = 6,
    utility: Literal["belief", "log"] = "belief",
    beta: float | None = None,
    alpha: float | None = None,
    start: Literal["share", "indicator"] = "share",
    prior: Annotated[str | None, tyro.conf.arg(metavar="W,W,…")] = None,
    costs: Annotated[str | None, tyro.conf.arg(metavar="WORD=C,…")] = None,
    noise: float = 0.0,
    qud: Annotated[str | None, tyro.conf.arg(metavar="QUESTION")] = None,
    max_words: int = 1,
    player: Annotated[str | None, tyro.conf.arg(metavar="PLAYER")] = None,
    space: Annotated[str | None, tyro.conf.arg(metavar="SPACE")] = None,
    json: bool = False,
) -> None:
    """Show what each message means literally, and when teacher and student reason about each other.

    Example: implicature explain blue,sphere red,sphere blue,cone --target 1

    Conventions: by default S ∝ exp(β·L) and the literal teacher says any true message ("share"). The usual rational
    speech act, S ∝ exp(α·(log L − cost)) from a literal listener L_0 ∝ prior·truth, is --utility log --alpha 1 --start
    indicator: then depth 1 is S_1 and L_1 (docs/rsa.md).

    Args:
        candidates: Each argument is one candidate, its attributes by name with commas between: 1,2,3,9 1,2,4 2,3
        target: Mark the N-th candidate, from 1, as the target, and explain it alone.
        depth: The depth of the recursion, 0 (literal) to 100.
        utility: What she values: "belief", his belief in the target minus the cost, or "log", its logarithm minus it.
        beta: The teacher's rationality, 0 to 1000, with utility belief (10): how strongly she prefers the message that
            he understands best; inf is iterated best response.
        alpha: The same with utility log (1).
        start: The literal teacher: "share" picks any true message, 1/|o| each; "indicator" only weighs truth.
        prior: Weights of the candidates, 7,2,1: how likely each is to be meant.
        costs: What words cost, blue=0.1,cone=0.2.
        noise: How likely a word is heard as another one; both know it.
        qud: The question under discussion: its answer for each candidate, w,d,w, or a category of the space, colour.
            Who finds the cell of the target is right.
        max_words: Messages are utterances of up to so many words, all of them true.
        player: Ask this player instead of the recursion: a run's folder, exact:depth=1,utility=log or module:object.
        space: Where the names come from: numbers-10, numbers-12, objects, a .csv or .json file, whose
            instances may be candidates by name, too, or a folder. Without it any names will do.
        json: Print one JSON object instead.
    """
    from implicature.agents.exact_spec import ExactSpec, rationality
    from implicature.explanation.model import explain_context
    from implicature.explanation.terminal import print_explanation
    from implicature.games.typed import typed_arrays

    options = {"space": space, "prior": prior, "costs": costs, "qud": qud, "max_words": max_words}
    if target is not None and not 1 <= target <= len(candidates):
        number = len(candidates)
        raise ValueError(f"The target {target} is not one of {number} candidates: name it from 1 to {number}.")
    if player is not None:
        from implicature.evaluation.asking import player_context
        from implicature.explanation.player import explain_player

        _, context, shown = player_context(player, candidates, options)
        print_explanation(explain_player(context, player, shown), target, f"literally → {player}", json)
        return
    arrays, shown = typed_arrays(candidates, **options)
    spec = ExactSpec(depth, utility, rationality(utility, alpha, beta), start, noise)
    model = spec.model()
    how = f"{'α' if utility == 'log' else 'β'} = {model.beta:g}, start: {start}" + ", utility: log" * (utility == "log")
    print_explanation(explain_context(arrays, spec, shown), target, how, json)

"""`implicature ask`."""

from typing import Annotated, Any

import tyro

MOST_WORDS = 16
"""Rows of the table; --json has all words."""


def ask(
    player: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="PLAYER")],
    candidates: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="CANDIDATE …")],
    target: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None,
    said: Annotated[str | None, tyro.conf.arg(metavar="WORD,…")] = None,
    prior: Annotated[str | None, tyro.conf.arg(metavar="W,W,…")] = None,
    costs: Annotated[str | None, tyro.conf.arg(metavar="WORD=C,…")] = None,
    qud: Annotated[str | None, tyro.conf.arg(metavar="QUESTION")] = None,
    max_words: int = 1,
    space: Annotated[str | None, tyro.conf.arg(metavar="SPACE")] = None,
    phase: int | None = None,
    json: bool = False,
) -> None:
    """Ask any player about a game of your own: what she says, what she expects him to believe, what he believes.

    Example: implicature ask runs/kitchen knife whisk saucepan --target knife

    Args:
        player: A run's folder, "exact", exact:depth=1,utility=log,alpha=4, "literal", or module:object.
        candidates: Each is an instance of the run's space by name, or its attributes with commas between.
        target: The candidate that is meant, as it was typed, or its number from 1; without it, all are asked about.
        said: Words that were said before, with commas between.
        prior: Weights of the candidates, 7,2,1: how likely each is to be meant. Learned agents start from it, too.
        costs: What words cost, blue=0.1,cone=0.2; by default what the space says.
        qud: The question under discussion: its answer for each candidate, w,d,w, or a category of the space.
        max_words: Messages of an exact player are utterances of up to so many words.
        space: Where the names come from for a player that is not of a run.
        phase: A run as it was after this phase; by default the last.
        json: Print one JSON object instead.
    """
    import json as json_format

    from implicature.evaluation.asking import ask_player

    words = () if said is None else tuple(word.strip() for word in said.split(","))
    options = {"prior": prior, "costs": costs, "qud": qud, "max_words": max_words, "space": space}
    answer = ask_player(player, candidates, target, words, phase, options)
    if json:
        print(json_format.dumps(answer))
        return
    print_answer(answer)


def print_answer(answer: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    names, targets = answer["candidates"], answer["says"]
    console = Console(highlight=False)
    for target, says in targets.items():
        words = sorted(says, key=lambda word: -says[word])[:MOST_WORDS]
        table = Table(title=Text(f"{answer['player']}, {target} is meant"))
        columns = ("word", "she says", f"she expects: {target}", *(f"he believes: {name}" for name in names))
        for column in columns:
            table.add_column(Text(column), justify="left" if column == "word" else "right")
        for word in words:
            beliefs = [answer["believes"][word][name] for name in names]
            cells = [says[word], answer["expects"][word][target], *beliefs]
            table.add_row(Text(word), *(f"{100 * cell:.1f} %" for cell in cells))
        console.print(table)
        if len(says) > len(words):
            console.print(f"{len(says) - len(words)} more words: --json has all of them.")

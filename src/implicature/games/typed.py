"""A context that a person has typed: candidates, and what else belongs to a game, as text."""

from collections.abc import Sequence

import numpy as np

from implicature.games.context_arrays import ContextArrays, context_arrays
from implicature.games.parsing import instance_rows, parse_candidates, quote
from implicature.games.registry import load_space
from implicature.spaces import Lexicon, Space


def typed_arrays(
    candidates: Sequence[str],
    space: str | Space | None = None,
    prior: str | None = None,
    costs: str | None = None,
    qud: str | None = None,
    max_words: int = 1,
) -> tuple[ContextArrays, list[list[str]] | None]:
    """The context, and what each candidate is shown as where that is not the words that are true of it."""
    loaded = load_space(space) if isinstance(space, str) else space
    given = parse_candidates(candidates, loaded)
    rows = None if loaded is None else instance_rows(candidates, given, loaded)
    own_words = loaded is not None and not loaded.words_are_attributes
    if qud is not None and loaded is not None and "," not in qud:
        if rows is None:
            raise ValueError(
                f"A question about {loaded.name} needs its instances as candidates: name them, or answers."
            )
        answers = loaded.cells(qud)[rows].tolist()
    else:
        answers = None if qud is None else [part.strip() for part in qud.split(",")]
    salience = None if loaded is None or rows is None or loaded.prior is None else loaded.prior[rows]
    lexicon = sayable(loaded.lexicon.take(rows)) if loaded is not None and own_words and rows is not None else None
    said = {name for names in given for name in names} if lexicon is None else set(lexicon.words)
    context = context_arrays(
        *(candidates if own_words else given),
        names=candidates,
        prior=salience if prior is None else numbers(prior, "--prior"),
        costs=typed_costs(costs, loaded, said),
        lexicon=lexicon,
        qud=answers,
        space=loaded if own_words else None,
        max_words=max_words,
    )
    return context, None if own_words or max_words > 1 else given


def typed_costs(text: str | None, space: Space | None, said: set[str]) -> dict[str, float] | None:
    """What the words that can be said here cost in the space, and over that what was typed."""
    typed = {} if text is None else word_costs(text)
    if space is None or space.lexicon.free:
        return typed or None
    own = zip(space.words, space.lexicon.costs.tolist(), strict=True)
    return {**{word: cost for word, cost in own if word in said}, **typed}


def sayable(lexicon: Lexicon) -> Lexicon:
    """Without the words that fit no candidate, unless none fits any."""
    some = np.flatnonzero((lexicon.meaning > 0).any(axis=0))
    if not len(some):
        return lexicon
    return Lexicon(tuple(lexicon.words[i] for i in some), lexicon.meaning[:, some], lexicon.costs[some])


def numbers(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} is {quote(text)}: write numbers with commas between, such as 7,2,1.") from None


def word_costs(text: str) -> dict[str, float]:
    costs: dict[str, float] = {}
    for part in text.split(","):
        word, _, cost = part.rpartition("=")
        try:
            costs[word.strip()] = float(cost)
        except ValueError:
            raise ValueError(f"--costs is {quote(text)}: write words and numbers, such as blue=0.1,cone=0.2.") from None
    return costs

"""A context as NumPy arrays: what a person can write down becomes tables. Importing this imports no JAX."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from implicature.games.parsing import distinct_names, instance_rows, parse_candidates, sort_words
from implicature.spaces import Lexicon, Space
from implicature.spaces.lexicon import Number, lexicon_from_words
from implicature.spaces.lexicon_io import with_costs
from implicature.spaces.utterances import Combine, conjunction, utterances

Costs = Mapping[str, Number] | Sequence[Number] | np.ndarray


@dataclass(frozen=True)
class ContextArrays:
    """The fields of `Context`."""

    features: Float[np.ndarray, "candidates features"]
    lexicon: Bool[np.ndarray, "candidates messages"] | Float[np.ndarray, "candidates messages"]
    prior: Float[np.ndarray, " candidates"]
    costs: Float[np.ndarray, " messages"] | None
    cells: Int[np.ndarray, " candidates"] | None
    lexica: Float[np.ndarray, "lexica candidates messages"] | None
    lexica_prior: Float[np.ndarray, " lexica"] | None
    candidates: tuple[str, ...]
    words: tuple[str, ...]
    instances: tuple[int, ...] = ()


def context_arrays(
    *candidates: str | Sequence[str],
    names: Sequence[str] | None = None,
    prior: Sequence[Number] | np.ndarray | None = None,
    costs: Costs | None = None,
    lexicon: Lexicon | Mapping[str, Sequence[Number]] | np.ndarray | None = None,
    lexica: Sequence[Lexicon | Mapping[str, Sequence[Number]]] | np.ndarray | None = None,
    lexica_prior: Sequence[Number] | np.ndarray | None = None,
    qud: Sequence[Hashable] | None = None,
    max_words: int = 1,
    combine: Combine = conjunction,
    length_cost: float = 0.0,
    space: Space | None = None,
) -> ContextArrays:
    """What `Context` makes of the same arguments."""
    attributes = parse_candidates(candidates, space)
    rows = None if space is None else instance_rows(candidates, attributes, space)
    known = sort_words([w for names in attributes for w in names]) if space is None else space.attributes
    table = np.array([[word in names for word in known] for names in attributes])
    meanings = weights = None
    if lexica is not None:
        several = [candidate_lexicon(one, table, tuple(known), space, rows) for one in lexica]
        lexicon, meanings, weights = mean_lexicon(several, lexica_prior)
    own = candidate_lexicon(lexicon, table, tuple(known), space, rows)
    own = own if costs is None else with_costs(own, costs)
    own = own if max_words == 1 else utterances(own, max_words, combine, length_cost)
    if prior is None and rows is not None and space is not None and space.prior is not None:
        prior = space.prior[rows]
    features = table if rows is None or space is None else space.features[rows]
    return ContextArrays(
        features.astype(np.float32),
        own.meaning if own.meaning.dtype == bool else own.meaning.astype(np.float32),
        normalize_prior(np.ones(len(table)) if prior is None else np.asarray(prior), len(table)),
        None if own.free else own.costs.astype(np.float32),
        None if qud is None else partition(qud, len(table)),
        meanings,
        weights,
        distinct_names(candidates if names is None else names, len(table)),
        own.words,
        () if rows is None else tuple(rows),
    )


def normalize_prior(prior: Sequence[Number] | np.ndarray, number: int) -> Float[np.ndarray, " candidates"]:
    weights = np.asarray(prior, np.float32)
    if weights.shape != (number,) or not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise ValueError(f"A prior is {number} weights from 0 on, one for each candidate, not all of them 0.")
    return weights / weights.sum()


def candidate_lexicon(
    lexicon: Lexicon | Mapping[str, Sequence[Number]] | np.ndarray | None,
    table: Bool[np.ndarray, "candidates attributes"],
    attributes: tuple[str, ...],
    space: Space | None,
    rows: list[int] | None,
) -> Lexicon:
    """What can be said of the candidates: what was given, else the space's words, else the attributes."""
    if isinstance(lexicon, Mapping):
        lexicon = lexicon_from_words(lexicon)
    if isinstance(lexicon, np.ndarray):
        lexicon = Lexicon(attributes, lexicon)
    if lexicon is not None and not isinstance(lexicon, Lexicon):
        raise ValueError(
            f"A lexicon of the type {type(lexicon).__name__} is not understood: give a Lexicon, or a dict with a value "
            'for each candidate under each word, {"big": [1, 0.2]}.'
        )
    if lexicon is not None:
        if lexicon.instances != len(table):
            raise ValueError(
                f"The lexicon has {lexicon.instances} values for each word, but there are {len(table)} candidates: "
                "give each candidate one."
            )
        return lexicon
    if space is not None and rows is not None:
        return space.lexicon.take(rows)
    if space is not None and not space.words_are_attributes:
        raise ValueError(f"The words of {space.name} are not its attributes: give its instances as candidates.")
    return Lexicon(attributes, table)


def mean_lexicon(
    lexica: list[Lexicon], prior: Sequence[Number] | np.ndarray | None
) -> tuple[Lexicon, Float[np.ndarray, "lexica candidates messages"], Float[np.ndarray, " lexica"]]:
    """The expected meaning of each word, all meanings, and how likely each lexicon is."""
    if not lexica or any(one.words != lexica[0].words for one in lexica):
        raise ValueError(
            "Several lexica must have the same words, and there must be at least one: give each all words."
        )
    weights = np.ones(len(lexica)) if prior is None else np.asarray(prior, float)
    if weights.shape != (len(lexica),) or not (
        np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0
    ):
        raise ValueError(f"A prior over lexica is {len(lexica)} weights from 0 on, one for each, not all of them 0.")
    weights = weights / weights.sum()
    meanings = np.stack([one.meaning.astype(np.float32) for one in lexica])
    mean = Lexicon(lexica[0].words, np.clip(np.tensordot(weights, meanings, axes=1), 0, 1), lexica[0].costs)
    return mean, meanings, weights.astype(np.float32)


def partition(qud: Sequence[Hashable], number: int) -> Int[np.ndarray, " candidates"]:
    """Cells from the answer that each candidate is to the question."""
    answers = list(qud)
    if len(answers) != number:
        raise ValueError(f"A question has {len(answers)} answers for {number} candidates: give each candidate one.")
    order = list(dict.fromkeys(answers))
    return np.array([order.index(answer) for answer in answers], np.int32)

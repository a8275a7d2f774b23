"""Measures of emergent language, from what was said in test games. Information is in bits.

topographic similarity   Spearman correlation of distances between targets and between what was said of them
mutual information       I(message; category), or of each attribute where there are no categories
purity                   Σ_m p(m) · max_a p(a | m): how often a word's commonest attribute is the target's
context independence     mean_c p(m_c | c) · p(c | m_c),  m_c = argmax_m p(c | m); IBM model 1     (Bogin et al. 2018)
speaker consistency      I(words; target) / H(words): how far the target alone, not its context, determines what is said
coordination             I(words; his answer) / H(words): instantaneous coordination (Jaques et al. 2019)
causal influence         I(first word; his answer) in each game, over all its candidates as targets (Lowe et al. 2019)

With few games for each target, meaningless words seem informative; `permuted` are the same measures with the words
permuted among the games.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

from implicature.agents.contracts import Pair
from implicature.agents.perspectives import FeatureTable
from implicature.evaluation.matchup import Matchup
from implicature.evaluation.players import plain_errors
from implicature.evaluation.transcripts import Transcripts, transcribe
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.games.semantics import space_semantics
from implicature.spaces import Space

Labels = Int[np.ndarray, " samples"]
Messages = Int[np.ndarray, "games rounds"]
"""−1 in rounds after the end."""
SIMILARITY_GAMES = 1_000
INFLUENCE_GAMES = 1_000
MAX_BELIEFS = 10**8


def counts(first: Labels, second: Labels) -> Float[np.ndarray, "first second"]:
    """How often each two labels occur together."""
    (_, rows), (_, columns) = np.unique(first, return_inverse=True), np.unique(second, return_inverse=True)
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1.0)
    return table


def entropy(chances: Float[np.ndarray, "*rest choices"]) -> Float[np.ndarray, "*rest"]:
    """Of the last axis, in bits."""
    return np.asarray(0 - np.sum(chances * np.log2(np.where(chances > 0, chances, 1)), axis=-1))


def label_entropy(labels: Labels) -> float:
    return float(entropy(np.unique(labels, return_counts=True)[1] / len(labels)))


def mutual_information(first: Labels, second: Labels) -> float:
    """I = H(first) + H(second) − H(both), as the samples have it."""
    both = counts(first, second) / len(first)
    return float(entropy(both.sum(axis=1)) + entropy(both.sum(axis=0)) - entropy(both.ravel()))


def explained_entropy(first: Labels, second: Labels) -> float:
    """I(first; second) / H(first): the fraction of the first's entropy that the second explains."""
    total = label_entropy(first)
    return mutual_information(first, second) / total if total > 1e-12 else 0.0


def edit_distance(first: list[int], second: list[int]) -> float:
    """Changes that make one of the other, over their mean length, as EGG has it."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        before, row = row, [i]
        for j, b in enumerate(second, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b)))
    return row[-1] / ((len(first) + len(second)) / 2)


def topographic_similarity(meanings: Bool[np.ndarray, "games attributes"], said: Messages) -> float:
    """Hamming distance between targets, edit distance between what was said; 0 where either never varies."""
    different, which = np.unique(said, axis=0, return_inverse=True)
    words = [[int(m) for m in row if m >= 0] for row in different]
    table = np.array([[edit_distance(a, b) for b in words] for a in words])
    one, other = np.triu_indices(len(said), 1)
    between_words = table[which.ravel()[one], which.ravel()[other]]
    between_meanings = pdist(meanings.astype(float), "hamming")
    if np.ptp(between_words) == 0 or np.ptp(between_meanings) == 0:
        return 0.0
    return float(np.asarray(spearmanr(between_meanings, between_words))[0])


def purity(messages: Labels, attributes: Bool[np.ndarray, "samples attributes"]) -> float:
    by_word = [attributes[messages == m] for m in np.unique(messages)]
    return float(sum(rows.sum(axis=0).max() for rows in by_word) / len(messages))


def translation(
    source: Float[np.ndarray, "games source"], target: Float[np.ndarray, "games target"], iterations: int = 20
) -> Float[np.ndarray, "source target"]:
    """IBM model 1: t(target | source) from how often each is in a game, a null word among the sources (left out of what
    is returned), by expectation maximisation from a uniform start."""
    source = np.column_stack([np.ones(len(source)), source])
    table = np.full((source.shape[1], target.shape[1]), 1 / target.shape[1])
    for _ in range(iterations):
        expected = table * (source.T @ (target / np.maximum(source @ table, 1e-12)))
        table = expected / np.maximum(expected.sum(axis=1, keepdims=True), 1e-12)
    return table[1:]


def context_independence(
    said: Float[np.ndarray, "games messages"], concepts: Float[np.ndarray, "games concepts"]
) -> float:
    """Of how often each message and each concept is in a game; those that never are do not count."""
    said, concepts = said[:, said.any(axis=0)], concepts[:, concepts.any(axis=0)]
    message_of, concept_of = translation(concepts, said), translation(said, concepts)
    best = np.argmax(concept_of, axis=0)
    return float(np.mean(message_of[np.arange(len(best)), best] * concept_of[best, np.arange(len(best))]))


def causal_influence(beliefs: Float[np.ndarray, "games targets candidates"]) -> float:
    """I(word; answer) from his beliefs after her word for each candidate as the target, all equally likely."""
    return float(np.mean(entropy(beliefs.mean(axis=1)) - entropy(beliefs).mean(axis=1)))


def categories_of(space: Space) -> dict[str, Int[np.ndarray, " instances"]]:
    """What each instance is by each category, numbered; without categories, by each attribute."""
    kinds = space.categories or space.attributes
    columns = {kind: [i for i, other in enumerate(kinds) if other == kind] for kind in dict.fromkeys(kinds)}
    return {
        kind: np.unique(space.table[:, which], axis=0, return_inverse=True)[1].ravel()
        for kind, which in columns.items()
    }


def count_measures(said: Messages, transcripts: Transcripts, space: Space) -> dict[str, Any]:
    """All measures that depend only on which words were said in which games."""
    words = np.unique(said, axis=0, return_inverse=True)[1].ravel()
    games, rounds = np.nonzero(said >= 0)
    messages, instances = said[games, rounds], transcripts.instance[games]
    n_said = np.zeros((len(said), len(space.words)))
    np.add.at(n_said, (games, messages), 1.0)
    answered = transcripts.answer < transcripts.candidates.shape[1]
    answers = np.full(len(said), -1)
    answers[answered] = transcripts.candidates[answered, transcripts.answer[answered]]
    return {
        "mutual_information": {
            kind: mutual_information(messages, of[instances]) for kind, of in categories_of(space).items()
        },
        "purity": purity(messages, space.table[instances]),
        "context_independence": context_independence(n_said, space.table[transcripts.instance].astype(float)),
        "speaker_consistency": explained_entropy(words, transcripts.instance),
        "coordination": explained_entropy(words, answers),
    }


def all_targets(games: Game, max_games: int) -> Game:
    """The first games, with each of their candidates as the target."""
    first = jax.tree.map(lambda leaf: leaf[:max_games], games)
    number = first.candidates.shape[1]
    repeated = jax.tree.map(lambda leaf: jnp.repeat(leaf, number, axis=0), first)
    target = jnp.tile(jnp.arange(number), len(first.target))
    return jax.vmap(Game)(repeated.candidates, target.astype(repeated.target.dtype), repeated.order)


def language(pair: Pair, features: FeatureTable, space: Space, games: Game, rules: Rules) -> dict[str, Any]:
    """All measures of one pair."""
    lexicon = space_semantics(space)
    transcripts = transcribe(pair, features, lexicon, games, rules)
    said, number = transcripts.message, rules.candidates
    permutation = np.random.default_rng(0).permutation(len(said))
    few = max(1, min(INFLUENCE_GAMES, MAX_BELIEFS // number**2))
    beliefs = transcribe(pair, features, lexicon, all_targets(games, few), rules).belief[:, 0]
    some = slice(SIMILARITY_GAMES)
    return {
        "games": len(said),
        "accuracy": float(np.mean(transcripts.answer == transcripts.target)),
        "entropy": label_entropy(said[said >= 0]),
        "topographic_similarity": topographic_similarity(space.table[transcripts.instance[some]], said[some]),
        **count_measures(said, transcripts, space),
        "causal_influence": causal_influence(beliefs.astype(float).reshape(-1, number, number)),
        "max_influence": float(np.log2(number)),
        "permuted": count_measures(said[permutation], transcripts, space),
    }


def measure_matchup(matchup: Matchup) -> dict[str, Any]:
    """The measures of a pair; of several their means, and each."""
    with plain_errors():
        each = [
            language(pair, matchup.features(pair), matchup.task.space, matchup.games, matchup.rules)
            for pair in matchup.pairs
        ]
    figures: dict[str, Any] = jax.tree.map(lambda *values: float(np.mean(values)), *each)
    figures["games"] = each[0]["games"]
    several = {"pairs": len(each), "each": each} if len(each) > 1 else {}
    return {**figures, **several}

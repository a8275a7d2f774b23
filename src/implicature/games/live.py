"""Live words: in one game only words that are true of some candidate can matter. They are gathered, and the game is one
of so many words, whatever the vocabulary (F-64).

    V(O) = {m : ⟦m⟧(o) > 0 for some o ∈ O}, and words that are true of none, up to the size of the bucket

The words that fill the bucket are decoys: neighbours in the vocabulary of a number that the candidates are hashed to.
V depends on the set of candidates alone, so that both players have it. Where more words are live than the bucket holds,
the rest is left out; `fit` gives the bucket that some games need, so that this happens in training alone. Exact players
lose nothing: words that are true of no candidate are never said. With channel noise all words matter.
"""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.games.splits import hash_bits
from implicature.spaces import Space

LIVE_FROM = 256
"""Smaller vocabularies are played whole."""
STEP = 8
"""Buckets are multiples of it."""
SAMPLE = 512
"""Candidate sets that the bucket of a game is measured on,"""
MARGIN = 1.15
"""and how much larger it is than the largest of them needs."""
ROWS = 4_096


class LiveWords(eqx.Module):
    """Which words are true of each instance, and how many of them a game has room for."""

    true: Int[Array, "instances most"]
    """Numbers of words; the size of the vocabulary where an instance has fewer."""
    size: int = eqx.field(static=True)
    vocabulary: int = eqx.field(static=True)

    def of(self, instances: Int[Array, "candidates *#games"]) -> Int[Array, "size *#games"]:
        """The words of games with these candidates."""
        listed = jnp.moveaxis(self.true[instances], 0, -2)
        ordered = jnp.sort(listed.reshape(*listed.shape[:-2], -1), axis=-1)
        again = jnp.diff(ordered, axis=-1, prepend=-1) == 0
        distinct = jnp.sort(jnp.where(again, self.vocabulary, ordered), axis=-1)
        missing = [(0, 0)] * (distinct.ndim - 1) + [(0, max(0, self.size - distinct.shape[-1]))]
        live = jnp.pad(distinct, missing, constant_values=self.vocabulary)[..., : self.size]
        return jnp.moveaxis(jnp.where(live < self.vocabulary, live, self._decoys(instances, live)), -1, 0)

    def _decoys(
        self, instances: Int[Array, "candidates *#games"], live: Int[Array, "*#games size"]
    ) -> Int[Array, "*#games size"]:
        """As many words that are not live: of twice as many neighbouring ones at least half are not."""
        start = jnp.sum(hash_bits(instances.astype(jnp.uint32)), axis=0, dtype=jnp.uint32) % self.vocabulary
        some = (start[..., None].astype(live.dtype) + jnp.arange(2 * self.size)) % self.vocabulary
        taken = jnp.any(some[..., None] == live[..., None, :], axis=-1)
        return jnp.take_along_axis(some, jnp.argsort(taken, axis=-1, stable=True)[..., : self.size], axis=-1)

    def fit(self, candidates: Int[Array, "games candidates"] | Int[np.ndarray, "games candidates"]) -> "LiveWords":
        """With a bucket that is large enough for all these games; as it is where it is."""
        most, true = self.size, np.asarray(self.true)
        sets = np.asarray(candidates)
        for start in range(0, len(sets), ROWS):
            most = max(most, most_live(true, sets[start : start + ROWS], self.vocabulary))
        return self if most == self.size else replace(self, size=bucket(most))


def most_live(
    true: Int[np.ndarray, "instances most"], sets: Int[np.ndarray, "games candidates"], vocabulary: int
) -> int:
    """The most words that are live in one of the games."""
    ordered = np.sort(true[sets].reshape(len(sets), -1), axis=1)
    new = np.diff(ordered, axis=1, prepend=-1) > 0
    return int((new & (ordered < vocabulary)).sum(axis=1).max())


def bucket(words: float | int) -> int:
    return int(-(-words // STEP) * STEP)


def true_words(meaning: Bool[np.ndarray, "instances words"] | Float[np.ndarray, "instances words"]) -> np.ndarray:
    """The numbers of the words that may be said of each instance, padded with the number of words."""
    rows = [np.flatnonzero(row) for row in meaning > 0]
    table = np.full((len(rows), max(1, *map(len, rows))), meaning.shape[1], np.int32)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def live_bucket(space: Space, candidates: int, similarity: Float[np.ndarray, "some instances"] | None) -> int:
    """The bucket of a game, from sampled candidate sets: random ones, or with `similarity` of some instances to all the
    nearest of each. 0 where the vocabulary is small, or a bucket would not be much smaller."""
    vocabulary = len(space.words)
    if vocabulary <= LIVE_FROM or not space.words_are_attributes:
        return 0
    random = np.random.default_rng(0)
    score = random.random((SAMPLE, space.instances), np.float32) if similarity is None else similarity
    sets = np.argpartition(-score, candidates - 1, axis=1)[:, :candidates]
    most = bucket(MARGIN * most_live(true_words(space.lexicon.meaning), sets, vocabulary))
    return most if 2 * most <= vocabulary else 0


def live_words(space: Space, size: int) -> LiveWords | None:
    """None where all words of the space are played with."""
    if not size:
        return None
    return LiveWords(jnp.asarray(true_words(space.lexicon.meaning)), size, len(space.words))

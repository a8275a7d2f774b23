"""A context: one game as both players may see it, before anything is said and without the target."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from implicature.games.parsing import parse_candidates, quote, sort_words
from implicature.spaces import Space


class Context(eqx.Module):
    """Candidates, what each word is true of, and the prior.

    >>> context = implicature.Context("blue,sphere", "red,sphere", "blue,cone")
    >>> context.words
    ('blue', 'sphere', 'red', 'cone')
    >>> context.lexicon.astype(int).tolist()
    [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
    """

    features: Float[Array, "candidates *#games features"]
    """What a network reads of each candidate: its attributes, or what an image encoder makes of its image."""
    lexicon: Bool[Array, "candidates messages *#games"]
    """Which words are true of which candidates."""
    prior: Float[Array, "candidates *#games"]
    """How likely each candidate is to be the target before anything is said."""
    candidates: tuple[str, ...] = eqx.field(static=True)
    """Their names, as they were typed; empty for games made of arrays."""
    words: tuple[str, ...] = eqx.field(static=True)

    def __init__(
        self,
        *candidates: str | Sequence[str],
        prior: Sequence[float] | Array | np.ndarray | None = None,
        space: Space | None = None,
        features: Array | None = None,
        lexicon: Array | None = None,
    ):
        """Candidates by their attributes, "blue,sphere", or with a space also by the names of its instances. Programs
        that have arrays give `features` and `lexicon` instead."""
        if features is not None and lexicon is not None:
            self.features, self.lexicon = features, lexicon
            self.candidates = self.words = ()
        else:
            attributes = parse_candidates(candidates, space)
            words = list(space.attributes) if space else sort_words([w for names in attributes for w in names])
            self.lexicon = jnp.array([[word in names for word in words] for names in attributes])
            self.features = self.lexicon.astype(jnp.float32)
            self.candidates = tuple(
                given.strip() if isinstance(given, str) else ",".join(given) for given in candidates
            )
            self.words = tuple(words)
        number, games = len(self.features), self.features.shape[1:-1]
        if prior is None:
            self.prior = jnp.full((number, *games), 1 / number)
        elif isinstance(prior, Array) and not self.candidates:
            self.prior = prior  # a program's: normalised, perhaps traced
        else:
            self.prior = normalize_prior(np.asarray(prior), number)

    def word(self, name: str) -> int:
        """The index of a word."""
        if name not in self.words:
            raise ValueError(f"{quote(name)} is not a word here: say one of {', '.join(map(quote, self.words[:12]))}.")
        return self.words.index(name)

    def position(self, candidate: int | str) -> int:
        """The position of a candidate, given as such or by name."""
        if isinstance(candidate, str):
            if candidate.strip() not in self.candidates:
                some = ", ".join(map(quote, self.candidates[:12]))
                raise ValueError(f"{quote(candidate)} is not a candidate here: name one of {some}.")
            return self.candidates.index(candidate.strip())
        if not 0 <= candidate < len(self.prior):
            raise ValueError(f"There is no candidate {candidate}: they are numbered 0 to {len(self.prior) - 1}.")
        return candidate


def normalize_prior(prior: Sequence[float] | np.ndarray, number: int) -> Float[Array, " candidates"]:
    weights = np.asarray(prior, np.float32)
    if weights.shape != (number,) or not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise ValueError(f"A prior is {number} weights from 0 on, one for each candidate, not all of them 0.")
    return jnp.asarray(weights / weights.sum())

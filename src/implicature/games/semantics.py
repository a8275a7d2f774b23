"""What words mean and cost and how salient instances are, as arrays: a space's lexicon as a compiled program takes it.

    P(o is meant | O) = w_o / Σ_o'∈O w_o'      salience weights w; uniform where there are none

Costs, weights and cells are None where no word costs anything, all instances are alike, and exactly the target is to be
found, so that such games compile to what they always did.
"""

from dataclasses import replace
from typing import TypeAlias

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Shaped

from implicature.games.context import MeaningArray, Present
from implicature.games.live import LiveWords
from implicature.games.sampling import ABSENT
from implicature.spaces import Space

MeaningTable: TypeAlias = Bool[Array, "instances messages"] | Float[Array, "instances messages"]


class GameWords(eqx.Module):
    """The words of one game, or of many with games as last axes."""

    meaning: MeaningArray
    costs: Float[Array, "messages *#games"] | None
    ids: Int[Array, "messages *#games"] | None = None
    """Which words of the vocabulary they are where a game has only its live words; None: all, in their order."""
    present: Present | None = None
    """Which candidates the game has; None: all."""

    def features(self, known: Shaped[Array, "candidates ..."]) -> Shaped[Array, "candidates ..."]:
        """What is seen of the candidates: what is known of them, or, of live words, which are true of each: words are
        attributes there."""
        return known if self.ids is None else jnp.moveaxis(self.meaning, 1, -1).astype(jnp.float32)


class Semantics(eqx.Module):
    """A row for each instance of a space."""

    meaning: MeaningTable
    """Boolean, or graded in [0, 1]."""
    costs: Float[Array, " messages"] | None = None
    salience: Float[Array, " instances"] | None = None
    cells: Int[Array, " instances"] | None = None
    """The answer to the question under discussion that each instance is; None: the question is which instance."""
    live: LiveWords | None = None
    """Where games have only the words that matter in them; None: all words."""
    mixed: bool = eqx.field(static=True, default=False)
    """Whether some candidates may be absent, since games have different numbers of them."""

    def present(self, instances: Int[Array, "candidates *#games"]) -> Present | None:
        """Which candidates a game has; None: all."""
        return instances != ABSENT if self.mixed else None

    def prior(self, instances: Int[Array, "candidates *#games"]) -> Float[Array, "candidates *#games"]:
        """How likely each candidate is to be the target before anything is said."""
        present = self.present(instances)
        if self.salience is None and present is None:
            return jnp.full(instances.shape, 1 / len(instances))
        weights = jnp.ones(instances.shape) if self.salience is None else self.salience[instances]
        weights = weights if present is None else weights * present
        return weights / jnp.sum(weights, axis=0)

    def fit(self, candidates: Int[Array, "games candidates"]) -> "Semantics":
        """With room for all words that are live in these games; with all words where these are most of them."""
        if self.live is None:
            return self
        fitted = self.live.fit(candidates)
        return replace(self, live=fitted if 2 * fitted.size <= fitted.vocabulary else None)

    def in_game(self, instances: Int[Array, "candidates *#games"]) -> "GameWords":
        """The words of games with these candidates; none is true of an absent one."""
        present = self.present(instances)
        if self.live is None:
            games = instances.ndim - 1
            costs = None if self.costs is None else self.costs.reshape(-1, *[1] * games)
            words, meaning = None, jnp.moveaxis(self.meaning[instances], -1, 1)
        else:
            words = self.live.of(instances)
            costs = None if self.costs is None else self.costs[words]
            meaning = self.meaning[instances[:, None], words[None]]
        return GameWords(meaning if present is None else meaning * present[:, None], costs, words, present)


def space_semantics(space: Space, question: str | None = None) -> Semantics:
    """The semantics of a space; a question is one of its categories: "colour" asks which colour."""
    lexicon, prior = space.lexicon, space.prior
    return Semantics(
        jnp.asarray(lexicon.meaning),
        None if lexicon.free else jnp.asarray(lexicon.costs),
        None if prior is None else jnp.asarray(prior),
        None if question is None else jnp.asarray(space.cells(question)),
    )


def as_semantics(lexicon: "MeaningTable | Semantics") -> Semantics:
    """A table alone is a lexicon of free words."""
    return lexicon if isinstance(lexicon, Semantics) else Semantics(lexicon)

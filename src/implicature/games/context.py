"""A context: one game as both players may see it, before anything is said and without the target."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.games.context_arrays import ContextArrays, Costs, context_arrays, normalize_prior
from implicature.games.parsing import quote
from implicature.spaces import Lexicon, Space
from implicature.spaces.lexicon import Number
from implicature.spaces.utterances import Combine, conjunction

Present: TypeAlias = Bool[Array, "candidates *#games"]
MeaningArray: TypeAlias = Bool[Array, "candidates messages *#games"] | Float[Array, "candidates messages *#games"]


class Context(eqx.Module):
    """Candidates, what each word means and costs, the prior, and the question under discussion.

    >>> context = implicature.Context("blue,sphere", "red,sphere", "blue,cone")
    >>> context.words
    ('blue', 'sphere', 'red', 'cone')
    >>> context.lexicon.astype(int).tolist()
    [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
    >>> sea = implicature.Context("whale", "seal", lexicon={"big": [1, 0.2]}, costs={"big": 0.1}, prior=[2, 1])
    >>> sea.words, [round(p, 2) for p in sea.prior.tolist()]
    (('big',), [0.67, 0.33])
    """

    features: Float[Array, "candidates *#games features"]
    """What a network reads of each candidate: its attributes, or what an image encoder makes of its image."""
    lexicon: MeaningArray
    """What each word means of each candidate: Boolean, or graded in [0, 1]."""
    prior: Float[Array, "candidates *#games"]
    """How likely each candidate is to be the target before anything is said."""
    costs: Float[Array, "messages *#games"] | None
    """What saying each word costs; None: nothing."""
    cells: Int[Array, "candidates *#games"] | None
    """The cell of each candidate where a cell is to be found; None: the target itself is."""
    lexica: Float[Array, "lexica candidates messages"] | None
    """Where the lexicon is uncertain: what words mean in each lexicon that she may use; `lexicon` is their mean."""
    lexica_prior: Float[Array, " lexica"] | None
    word_ids: Int[Array, "messages *#games"] | None
    """Which words of the vocabulary these are where a game has only its live words; None: all, in their order."""
    present: Present | None
    """Which candidates there are, where games of several sizes are played at once; None: all."""
    candidates: tuple[str, ...] = eqx.field(static=True)
    """Their names, as they were typed; empty for games made of arrays."""
    words: tuple[str, ...] = eqx.field(static=True)
    instances: tuple[int, ...] = eqx.field(static=True)
    """Which instances of the given space they are; empty where they are none, or no space was given."""

    def __init__(
        self,
        *candidates: str | Sequence[str],
        names: Sequence[str] | None = None,
        prior: Sequence[Number] | Array | np.ndarray | None = None,
        costs: Costs | Array | None = None,
        lexicon: Lexicon | Mapping[str, Sequence[Number]] | Array | np.ndarray | None = None,
        lexica: Sequence[Lexicon | Mapping[str, Sequence[Number]]] | Array | None = None,
        lexica_prior: Sequence[Number] | Array | None = None,
        qud: Sequence[Hashable] | None = None,
        max_words: int = 1,
        combine: Combine = conjunction,
        length_cost: float = 0.0,
        space: Space | None = None,
        features: Array | None = None,
        cells: Array | None = None,
        arrays: ContextArrays | None = None,
        word_ids: Array | None = None,
        present: Array | None = None,
    ):
        """Candidates by their attributes, "blue,sphere", or with a space also by the names of its instances; the same
        one may be given twice.

        - `names`: other names for them than what was typed.
        - `lexicon`: the words, with a value for each candidate; by default the space's words, or the attributes.
        - `costs`: of the words, {"blue": 0.1} or a number for each; `prior`: weights of the candidates.
        - `lexica`: several lexica of the same words in place of one: which of them she uses, the student does not know;
          `lexica_prior`: how likely each is.
        - `max_words`: messages are utterances of up to so many words, whose meaning is what `combine` makes of theirs,
          and `length_cost` is the cost of each word after the first.
        - `qud`: the question under discussion, as its answer for each candidate: ["blue", "red", "blue"].

        Programs that have arrays give `features` and `lexicon` (and `costs`, `cells`) instead, or `arrays`."""
        self.word_ids, self.present = word_ids, present
        if features is None or not isinstance(lexicon, Array | np.ndarray):
            made = arrays or context_arrays(
                *candidates, names=names, prior=as_numpy(prior), costs=as_numpy(costs), lexicon=as_numpy(lexicon),
                lexica=as_numpy(lexica), lexica_prior=as_numpy(lexica_prior), qud=qud, max_words=max_words,
                combine=combine, length_cost=length_cost, space=space,
            )  # fmt: skip
            self.features, self.lexicon, self.prior = map(jnp.asarray, (made.features, made.lexicon, made.prior))
            self.costs, self.cells, self.lexica, self.lexica_prior = (
                None if array is None else jnp.asarray(array)
                for array in (made.costs, made.cells, made.lexica, made.lexica_prior)
            )
            self.candidates, self.words, self.instances = made.candidates, made.words, made.instances
            return
        self.lexica = self.lexica_prior = None
        if isinstance(lexica, Array) and isinstance(lexica_prior, Array):
            self.lexica, self.lexica_prior = lexica, lexica_prior
        self.features, self.lexicon = features, jnp.asarray(lexicon)
        self.costs, self.cells = None if costs is None else jnp.asarray(costs), cells
        self.candidates = self.words = self.instances = ()
        number, games = len(self.features), self.features.shape[1:-1]
        if prior is None:
            self.prior = jnp.full((number, *games), 1 / number)
        elif isinstance(prior, Array):
            self.prior = prior  # a program's: normalised, perhaps traced
        else:
            self.prior = jnp.asarray(normalize_prior(np.asarray(prior), number))

    def arrays(self) -> ContextArrays:
        """As NumPy arrays."""
        costs, cells, lexica, lexica_prior = (
            None if array is None else np.asarray(array)
            for array in (self.costs, self.cells, self.lexica, self.lexica_prior)
        )
        features, lexicon, prior = map(np.asarray, (self.features, self.lexicon, self.prior))
        return ContextArrays(
            features, lexicon, prior, costs, cells, lexica, lexica_prior, self.candidates, self.words, self.instances
        )

    @property
    def graded(self) -> bool:
        return self.lexicon.dtype != bool

    def unnamed(self) -> "Context":
        """The same arrays without names, which would compile a program for each context."""
        return Context(
            features=self.features,
            lexicon=self.lexicon,
            prior=self.prior,
            costs=self.costs,
            cells=self.cells,
            word_ids=self.word_ids,
            present=self.present,
            lexica=self.lexica,
            lexica_prior=self.lexica_prior,
        )

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


def as_numpy(value: Any) -> Any:
    """A JAX array as NumPy's; anything else as it is."""
    return np.asarray(value) if isinstance(value, Array) else value

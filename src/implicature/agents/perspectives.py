"""A game from each agent's side: the features that each has of the candidates, in each one's order."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key

from implicature.agents.belief import Belief
from implicature.games.context import Context
from implicature.games.sampling import Game
from implicature.games.semantics import MeaningTable, Semantics, as_semantics
from implicature.nn.image_encoder import FeatureRows
from implicature.nn.kernels import Index, one_hot


class Perspectives(eqx.Module):
    """A game as each agent sees it. The student's candidates stand in his own order and may be renamed."""

    teacher: Context
    student: Context
    target: Index
    """Position in the teacher's order."""
    order: Int[Array, "candidates *#games"]
    """The student's j-th candidate is the teacher's order[j]-th."""
    renaming: Int[Array, "messages *#games"] | None = None
    """In equivalent games: the message that reaches him for each that she sends."""

    def said(self, message: Int[Array, "rounds *#games"]) -> Int[Array, "rounds *#games"]:
        """The words of the vocabulary that messages are."""
        words = self.teacher.word_ids
        return message if words is None else jnp.take_along_axis(words, message, axis=0)

    def in_teacher_order(self, belief: Belief) -> Belief:
        """The student's belief, in the teacher's order."""
        return jnp.sum(one_hot(len(belief), self.order) * belief, axis=1)


class FeatureTable(eqx.Module):
    """The features that each agent has of every observation; observations of one instance stand together."""

    teacher: FeatureRows
    student: FeatureRows
    views_per_instance: int = eqx.field(static=True, default=1)

    def sample_views(self, key: Key[Array, ""], instances: Int[Array, "*some"]) -> Int[Array, "*some"]:
        return sample_views(key, instances, self.views_per_instance)


def sample_views(key: Key[Array, ""], instances: Int[Array, "*some"], views: int) -> Int[Array, "*some"]:
    """A random observation of each instance."""
    if views == 1:
        return instances
    return instances * views + jax.random.randint(key, instances.shape, 0, views)


def perspectives(game: Game, features: FeatureTable, lexicon: MeaningTable | Semantics, views: int = 1) -> Perspectives:
    """A game whose candidates are observations, `views` of each instance. Works for one game and for games last."""
    semantics, size = as_semantics(lexicon), len(game.candidates)
    games = game.target.shape

    def context(observations: Int[Array, "candidates *#games"], rows: FeatureRows) -> Context:
        instances = observations // views
        words = semantics.in_game(instances)
        if semantics.salience is None and words.present is None:
            prior = jnp.full((size, *games), 1 / size)
        else:
            prior = jnp.broadcast_to(semantics.prior(instances), (size, *games))
        cells = None if semantics.cells is None else jnp.broadcast_to(semantics.cells[instances], (size, *games))
        return Context(
            features=words.features(rows[observations]),
            lexicon=words.meaning,
            prior=prior,
            costs=words.costs,
            cells=cells,
            word_ids=words.ids,
            present=words.present,
        )

    return Perspectives(
        context(game.candidates, features.teacher),
        context(game.student_candidates, features.student),
        game.target,
        game.order,
    )

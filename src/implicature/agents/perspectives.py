"""A game from each agent's side: the features that each has of the candidates, in each one's order."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key

from implicature.agents.belief import Belief
from implicature.games.context import Context
from implicature.games.sampling import Game
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


def perspectives(
    game: Game, features: FeatureTable, lexicon: Bool[Array, "instances messages"], views: int = 1
) -> Perspectives:
    """A game whose candidates are observations, `views` of each instance. Works for one game and for games last."""
    size = len(game.candidates)
    prior = jnp.full((size, *game.target.shape), 1 / size)

    def context(observations: Int[Array, "candidates *#games"], rows: FeatureRows) -> Context:
        words = jnp.moveaxis(lexicon[observations // views], -1, 1)
        return Context(features=rows[observations], lexicon=words, prior=prior)

    return Perspectives(
        context(game.candidates, features.teacher),
        context(game.student_candidates, features.student),
        game.target,
        game.order,
    )

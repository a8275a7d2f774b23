"""A loss of your own for the student: the focal loss, which counts games that he is sure of less. In this folder:

implicature train --loss my_loss:focal_loss
"""

import jax
import jax.numpy as jnp

from implicature.nn.kernels import take_one_hot

GAMMA = 2.0


def focal_loss(played, seen, config, rules):
    """−(1 − b(o*))^γ log b(o*) of each game, the mean over its rounds.

    `played` is what happened (agents/rollout.py): `played.after` has his beliefs, rounds × candidates × games, and
    `played.active` whether a round was played. `seen` is the game (agents/perspectives.py), `config` the run's
    MethodConfig. The result is differentiated.
    """
    belief = jax.vmap(lambda after: take_one_hot(after, seen.target))(played.after)
    each = -((1 - belief) ** GAMMA) * jnp.log(belief + 1e-9)
    return jnp.sum(each * played.active, axis=0) / played.n_messages

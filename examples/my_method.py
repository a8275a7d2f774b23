"""A training method of your own: the agents of Lazaridou et al. 2018 learn together by the exact gradient of their
success, summed over all messages instead of sampled. In this folder:

implicature train --method my_method:exact_gradient --no-grounded
"""

import equinox as eqx
import jax.numpy as jnp

from implicature.nn.kernels import take_one_hot
from implicature.training.methods import Method
from implicature.training.optimiser import apply_gradients
from implicature.training.pairs import new_pair_2018


def make_step(stage, setup, pair, features):
    """The step that a phase repeats, `state, metrics = step(key, state)`; `state.model` is the pair."""
    data, rules, optimiser = setup.data, setup.rules, setup.config.optimiser

    def step(key, state):
        games = data.sample(key, optimiser.candidate_sets, optimiser.all_targets)
        seen = data.perspectives(games, features)

        def loss(pair):
            teacher, student = pair.teacher, pair.student
            values = teacher.values(teacher.encode(seen.teacher), games.target, teacher.init_state(seen.teacher, rules))
            encoding, before = student.encode(seen.student), student.init_state(seen.student, rules)
            messages = [jnp.full_like(games.target, m) for m in range(len(values))]
            beliefs = [student.update(encoding, before, message).belief for message in messages]
            right = jnp.stack([take_one_hot(seen.in_teacher_order(belief), games.target) for belief in beliefs])
            success = jnp.sum(teacher.message_probabilities(values) * right, axis=0)
            return -jnp.mean(jnp.log(success + 1e-9)), {"reward": jnp.mean(success)}

        (_, metrics), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
        return apply_gradients(state, gradient, optimiser, optimiser.iterations), metrics

    return step


exact_gradient = Method(new_pair_2018, make_step, in_turns=False)

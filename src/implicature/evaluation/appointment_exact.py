"""What exact players of the appointment game reach, in expectation over all pairs of calendars: the references beside
learned players. A message is always sent here, also by who is busy all day and could say "none" at once (F-70)."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from implicature.agents.appointment.exact import BETA, exact_listener, literal_listener, literal_speaker
from implicature.agents.appointment.player import Calendar
from implicature.agents.appointment.worth import (
    Belief,
    Table,
    answer_values,
    message_worth,
    rewards,
    successes,
    take_best,
)
from implicature.evaluation.appointment import Figures
from implicature.games.appointment import RIGHT, AppointmentRules, calendars, lexicon, maximal_runs

Weights = Float[np.ndarray, " calendars"]


def everyone(rules: AppointmentRules) -> Weights:
    return np.ones(rules.calendars)


def known_to_both(rules: AppointmentRules) -> tuple[Calendar, Belief]:
    known = Calendar(
        jnp.asarray(calendars(rules.slots)), jnp.asarray(lexicon(rules.slots)), jnp.asarray(rules.message_cost)
    )
    return known, jnp.full(rules.calendars, 1 / rules.calendars)


def one_message(known: Calendar, speaker: Table, heard: Table, weights: Weights) -> Figures:
    """A speaker's message, then the listener's best answer."""
    share = jnp.asarray(weights / np.sum(weights), jnp.float32)
    answers = take_best(answer_values(known.busy, heard.T))
    said = share[:, None] * speaker
    success = jnp.sum(said * successes(known.busy, answers, share).T)
    reward = jnp.sum(said * rewards(known.busy, answers, share).T)
    return Figures(float(success), float(reward - known.message_cost), 1.0)


def best_message(known: Calendar, worth: Table) -> Table:
    """One-hot: the best true message, the first of those that are tied."""
    return take_best(jnp.where(known.truth, worth, -jnp.inf))


def silent_pair(rules: AppointmentRules, weights: Weights | None = None, by_reward: bool = True) -> Figures:
    """Without any message: the best answer by expected reward, or the likeliest to be right."""
    known, prior = known_to_both(rules)
    share = jnp.asarray(everyone(rules) if weights is None else weights, jnp.float32)
    share = share / jnp.sum(share)
    values = answer_values(known.busy, prior)
    if not by_reward:
        # From expected reward back to probability: 3 p − 2 for a slot, 2 p − 1 for "none".
        values = jnp.concatenate([(values[:, :-1] + 2) / 3, (values[:, -1:] + 1) / 2], axis=1)
    answers = take_best(values)
    success = jnp.sum(share * successes(known.busy, answers, share))
    return Figures(float(success), float(jnp.sum(share * rewards(known.busy, answers, share))), 0.0)


def literal_pair(rules: AppointmentRules, weights: Weights | None = None) -> Figures:
    """Any true message, taken literally."""
    known, prior = known_to_both(rules)
    heard = literal_listener(known.truth, prior)
    return one_message(known, literal_speaker(known.truth), heard, everyone(rules) if weights is None else weights)


def exact_pair(rules: AppointmentRules, depth: int, beta: float = BETA, weights: Weights | None = None) -> Figures:
    """The listener L_t, and the speaker who sends what is best for it; depth 0 is the best speaker to a literal one."""
    known, prior = known_to_both(rules)
    heard = exact_listener(known.busy, known.truth, prior, prior, depth, beta)
    speaker = best_message(known, message_worth(known.busy, heard, prior))
    return one_message(known, speaker, heard, everyone(rules) if weights is None else weights)


def telling_everything(rules: AppointmentRules, weights: Weights | None = None) -> Figures:
    """Every maximal run is told, at its cost, and the answer is right."""
    share = everyone(rules) if weights is None else weights
    number = np.average([len(maximal_runs(calendar)) for calendar in calendars(rules.slots)], weights=share)
    return Figures(1.0, RIGHT - rules.message_cost * float(number), float(number))


def two_messages(
    rules: AppointmentRules, iterations: int = 40, start: float = BETA, growth: float = 1.12, largest: float = 300.0
) -> Figures:
    """Tables for m₁, for the answer or m₂ to it, and for the last answer: each in turn the soft best response to the
    others, ever harder. What it ends with is a best response to itself, though perhaps not the best pair there is."""
    known, prior = known_to_both(rules)
    literal = literal_listener(known.truth, prior)
    first, second = literal_speaker(known.truth), None
    sayable = jnp.concatenate([jnp.ones((len(prior), rules.slots + 1), bool), known.truth], axis=1)
    best = Figures(0.0, -jnp.inf, 0.0)
    for iteration in range(iterations):
        beta = min(start * growth**iteration, largest)
        heard = heard_or(first, literal)
        answers = answer_values(known.busy, heard.T)
        last = last_answers(known, second, literal, rules.slots)
        after = jnp.stack([rewards(known.busy, last[m], heard[:, m]) for m in range(heard.shape[1])])
        values = jnp.concatenate([answers, jnp.moveaxis(after, 1, 2) - rules.message_cost], axis=-1)
        values = jnp.where(sayable, values, -jnp.inf)
        hard = take_best(values)
        worth, found, sent = first_worth(known, hard, last, rules)
        speaker = best_message(known, worth)
        figures = [float(jnp.mean(jnp.sum(speaker * table, axis=1))) for table in (found, worth, sent)]
        best = max(best, Figures(*figures), key=lambda one: one.episode_return)
        first = jnp.where(known.truth, softmax(jnp.where(known.truth, beta * worth, -jnp.inf)), 0.0)
        second = softmax(beta * values)
    return best


def softmax(values: Array) -> Array:
    weights = jnp.exp(values - jnp.max(values, axis=-1, keepdims=True))
    return weights / jnp.sum(weights, axis=-1, keepdims=True)


def heard_or(speaker: Table, literal: Table) -> Table:
    """The posterior over the speaker's calendar; a message that is hardly sent is taken literally."""
    total = jnp.sum(speaker, axis=0)
    return jnp.where(total > 1e-12, speaker / jnp.maximum(total, 1e-12), literal)


def last_answers(known: Calendar, second: Array | None, literal: Table, slots: int) -> Array:
    """m₁ × m₂ × calendars × answers: the best answer to m₂ after one's own m₁."""
    if second is None:
        one = take_best(answer_values(known.busy, literal.T))
        return jnp.tile(one[None], (literal.shape[1], 1, 1, 1))
    return jnp.stack([take_best(answer_values(known.busy, heard_or(m[:, slots + 1 :], literal).T)) for m in second])


def first_worth(known: Calendar, second: Array, last: Array, rules: AppointmentRules) -> tuple[Table, Table, Table]:
    """The return of each m₁ for each calendar, the success, and the number of messages."""
    share = jnp.full(len(known.busy), 1 / len(known.busy))
    answers = rules.slots + 1
    columns = []
    for m in range(second.shape[0]):
        replies, sent = second[m, :, :answers], share[:, None] * second[m, :, answers:]
        mass = jnp.sum(sent, axis=0)[:, None, None]
        constants = jnp.append(jnp.full(rules.slots, -2.0), -1.0)
        # answer_values is linear in the belief but for its constants.
        values = answer_values(known.busy, sent.T) - constants + constants * mass
        chances = jnp.concatenate([(values[..., :-1] + 2 * mass) / 3, (values[..., -1:] + mass) / 2], axis=-1)
        more = jnp.sum(sent)
        columns.append((
            rewards(known.busy, replies, share) + jnp.sum(last[m] * values, axis=(0, 2))
            - rules.message_cost * (1 + more),
            successes(known.busy, replies, share) + jnp.sum(last[m] * chances, axis=(0, 2)),
            jnp.full(len(known.busy), 1 + more),
        ))  # fmt: skip
    worth, found, sent = (jnp.stack(column, axis=1) for column in zip(*columns, strict=True))
    return worth, found, sent

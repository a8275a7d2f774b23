"""Two players of the appointment game, in expectation over all games: every dialogue that may happen, with its
probability. Beliefs depend on what was said alone, so a dialogue is followed for all calendars at once."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from implicature.agents.appointment.player import (
    AbstractPlayer,
    Calendar,
    ExactPlayer,
    LiteralPlayer,
    encode_calendars,
    hold,
)
from implicature.agents.appointment.worth import rewards, successes, take_best
from implicature.agents.contracts import AgentState
from implicature.games.appointment import (
    AppointmentRules,
    answer_name,
    appointment_context,
    calendar_name,
    calendars,
    run_name,
    runs,
    split_calendars,
)
from implicature.games.rules import Rules
from implicature.training.appointment.run import open_appointment

NEGLIGIBLE = 1e-9
COST = AppointmentRules().message_cost


@dataclass(frozen=True)
class Figures:
    success: float
    episode_return: float
    messages: float


def dialogue_rules(rules: AppointmentRules) -> Rules:
    """As the contracts have them: candidates are calendars, rounds messages."""
    return Rules(rules.calendars, rules.messages, rules.message_cost)


Parts = Float[np.ndarray, "parts calendars"]
"""How likely each calendar is, in several sets of games at once."""


@eqx.filter_jit
def decisions(player: AbstractPlayer, state: AgentState) -> tuple[Array, Array]:
    """P(answer or Ξ) and P(message | Ξ) for every calendar that the player may hold."""

    def decide(calendar: Array) -> tuple[Array, Array]:
        values = state.memory.values[calendar]
        policy = player.policy(hold(state, calendar), state.memory.messages_left == 0)
        sampled = isinstance(player, LiteralPlayer)
        return policy, player.message_probabilities(values) if sampled else take_best(values)

    return jax.vmap(decide)(jnp.arange(len(state.belief)))


@eqx.filter_jit
def states_after(
    player: AbstractPlayer, other: AbstractPlayer, known: Calendar, state: AgentState, other_state: AgentState
) -> tuple[AgentState, AgentState]:
    """Both after each message of the first one: messages are a leading axis."""
    messages = jnp.arange(known.truth.shape[1])
    sent = jax.vmap(lambda message: player.observe(known, state, message))(messages)
    return sent, jax.vmap(lambda message: other.update(known, other_state, message))(messages)


@eqx.filter_jit
def scores(busy: Array, answers: Array, own: Array, theirs: Array) -> tuple[Array, Array]:
    """Success and reward of the mover's answers, weighted, for each set of games."""
    found, reward = (jax.vmap(measure, (None, None, 0))(busy, answers, own) for measure in (successes, rewards))
    return jnp.sum(theirs * found, axis=1), jnp.sum(theirs * reward, axis=1)


def play_first(first: AbstractPlayer, second: AbstractPlayer, rules: AppointmentRules, weights: Parts) -> list[Figures]:
    """The figures where `first` begins, for each set of games; both calendars are as likely as its weights have it."""
    context = appointment_context(rules)
    known = encode_calendars(context, rules.message_cost)
    states = [eqx.filter_jit(player.init_state)(context, dialogue_rules(rules)) for player in (first, second)]
    total = np.zeros((3, len(weights)))
    share = np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)
    queue = [((first, second), (states[0], states[1]), (share, share), 0)]
    while queue:
        (player, other), (state, other_state), (own, theirs), said = queue.pop()
        policy, messages = (np.asarray(table) for table in decisions(player, state))
        answers, *shares = map(jnp.asarray, (policy[:, :-1], own, theirs))
        success, reward = (np.asarray(one) for one in scores(known.busy, answers, *shares))
        reached = (own @ (1 - policy[:, -1])) * theirs.sum(axis=1)
        total += np.stack([success, reward - rules.message_cost * said * reached, said * reached])
        sent = (own * policy[:, -1])[:, :, None] * messages  # parts × calendars × messages
        likely = np.max(sent.sum(axis=1) * theirs.sum(axis=1)[:, None], axis=0) > NEGLIGIBLE
        if not likely.any():
            continue
        after, other_after = states_after(player, other, known, state, other_state)
        for message in np.flatnonzero(likely):
            one, two = (jax.tree.map(lambda leaf, m=message: leaf[m], tree) for tree in (after, other_after))
            queue.append(((other, player), (two, one), (theirs, sent[:, :, message]), said + 1))
    return [Figures(*(float(one) for one in column)) for column in total.T]


def play_pair(one: AbstractPlayer, other: AbstractPlayer, rules: AppointmentRules, weights: Parts) -> list[Figures]:
    """The means of games that the one begins and games that the other begins."""
    both = zip(play_first(one, other, rules, weights), play_first(other, one, rules, weights), strict=True)
    names = Figures.__annotations__
    return [Figures(*((getattr(a, name) + getattr(b, name)) / 2 for name in names)) for a, b in both]


def play_parts(one: AbstractPlayer, other: AbstractPlayer, rules: AppointmentRules, split: int) -> dict[str, Figures]:
    """The figures of games with all calendars, with those of training and with those held out."""
    parts = player_weights(rules.slots, split)
    return dict(zip(parts, play_pair(one, other, rules, np.stack([*parts.values()])), strict=True))


PLAYERS: dict[str, AbstractPlayer] = {"exact": ExactPlayer(), "literal": LiteralPlayer()}
"""Players of this game by name."""


def player_weights(slots: int, split_seed: int) -> dict[str, Float[np.ndarray, " calendars"]]:
    """Which calendars games are made of: all, those of training, those held out."""
    train, held_out = split_calendars(slots, split_seed)
    number = 2**slots - 1
    parts = {"all": np.arange(number), "training": train, "held out": held_out}
    return {name: np.isin(np.arange(number), part).astype(float) for name, part in parts.items()}


def load_players(
    first: str, second: str, messages: int, message_cost: float, phase: int | None
) -> tuple[AbstractPlayer, AbstractPlayer, AppointmentRules, int]:
    """Two players by name or run, the rules of their game, and the seed of its split. Of two runs, the first player of
    one plays with the second of the other."""
    opened = {name: open_appointment(name) for name in (first, second) if name not in PLAYERS}
    rules, split = AppointmentRules(messages=messages, message_cost=message_cost or COST), 0
    if opened:
        (name, run), *others = opened.items()
        rules, split = run.task.rules, run.config.data.split_seed
        for other_name, other in others:
            if other.task.rules != rules or other.config.data.split_seed != split:
                raise ValueError(f"{name} and {other_name} have other rules or another --split-seed: take two alike.")
    one = PLAYERS[first] if first in PLAYERS else opened[first].players(phase)[0]
    other = PLAYERS[second] if second in PLAYERS else opened[second].players(phase)[1]
    return one, other, rules, split


@dataclass(frozen=True)
class Turn:
    """One turn of a dialogue: what was done, and what the other then believes of each slot."""

    player: int
    said: str
    free: tuple[float, ...]
    """How likely each slot of the mover is free, as the other believes after it,"""
    estimate: tuple[float, ...]
    """and as the mover expects the other to believe."""


@dataclass(frozen=True)
class Dialogue:
    calendars: tuple[str, str]
    turns: tuple[Turn, ...]
    reward: float
    success: bool

    def lines(self) -> list[str]:
        """For a terminal."""
        names = "A", "B"
        told = [f"{names[i]} holds {calendar}" for i, calendar in enumerate(self.calendars)]
        for turn in self.turns:
            believed = " ".join(f"{100 * p:3.0f}" for p in turn.free)
            after = f"; {names[1 - turn.player]} believes slots free, %: {believed}" if turn.free else ""
            told.append(f"{names[turn.player]}: {turn.said}{after}")
        return [*told, f"{'right' if self.success else 'wrong'}, return {self.reward:.1f}"]


def play_dialogue(
    one: AbstractPlayer,
    other: AbstractPlayer,
    rules: AppointmentRules,
    seed: int,
    held: tuple[int, int] | None = None,
) -> Dialogue:
    """One game, drawn by the seed or with the calendars given; the one begins, both choose what is best."""
    rng = np.random.default_rng(seed)
    held = held or (int(rng.integers(rules.calendars)), int(rng.integers(rules.calendars)))
    context = appointment_context(rules)
    known = encode_calendars(context, rules.message_cost)
    busy = calendars(rules.slots)
    players, turns, said, mover = (one, other), [], 0, 0
    states = [eqx.filter_jit(player.init_state)(context, dialogue_rules(rules)) for player in players]
    while True:
        policy, messages = decisions(players[mover], states[mover])
        action = int(np.argmax(policy[held[mover]]))
        if action < rules.slots + 1:
            reward = float(rules.score(action, busy[held[0]], busy[held[1]]))
            turns.append(Turn(mover, answer_name(action, rules.slots), (), ()))
            names = calendar_name(busy[held[0]]), calendar_name(busy[held[1]])
            return Dialogue(names, tuple(turns), reward - rules.message_cost * said, reward > 0)
        probabilities = np.asarray(messages[held[mover]])
        message = int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))
        after = states_after(players[mover], players[1 - mover], known, states[mover], states[1 - mover])
        states[mover], states[1 - mover] = (jax.tree.map(lambda leaf, m=message: leaf[m], tree) for tree in after)
        beliefs = states[1 - mover].belief, states[mover].memory.estimate
        free = [tuple(float(p) for p in np.asarray(belief) @ ~busy) for belief in beliefs]
        turns.append(Turn(mover, f'"{run_name(runs(rules.slots)[message])}"', free[0], free[1]))
        said, mover = said + 1, 1 - mover

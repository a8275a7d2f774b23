"""A suite of frozen partners, each a teacher and a student with ways of their own to speak and to answer.

    literal, depth 1 to 3       the exact recursion, utility belief, β = 10
    log, depth 1 and 3          the same with utility log, α = 1
    random true word            S_0 and L_0: she says any true word
    people                      Franke & Degen's: speakers Σ_t w_t S_t, listeners Σ_t w_t L_t, with lapses; sampled
    noisy                       depth 3; one word in ten reaches him as another one
    liar                        depth 3; one time in ten she says an untrue word, and he answers another candidate
    two other seeds, deep sets, Lazaridou et al. 2017 and 2018      trained with numbers-4, weights of the package

Learned ones are strangers to a pair of the same game only. People's w, β and lapses are those of `implicature people
mixture:depths=0+1+2 --data franke-degen-2016`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from implicature import training
from implicature.agents.contracts import (
    AbstractTeacher,
    AgentState,
    MessageProbabilities,
    Pair,
    Policy,
    Values,
)
from implicature.agents.exact import UNTRUE, ExactModel, ExactStudent, ExactTeacher
from implicature.agents.rollout import ActionPolicy, MessagePolicy, argmax, categorical
from implicature.agents.rsa import normalize
from implicature.agents.utility import Utility
from implicature.evaluation.matchup import same_space
from implicature.games.context import Context
from implicature.games.registry import GAMES, load_space
from implicature.games.rules import Rules
from implicature.nn.kernels import Index
from implicature.training.runs.run import Run, open_run, read_config
from implicature.training.task import Task

WEIGHTS = Path(training.__file__).parent / "pretrained"
LEARNED = {
    "another seed": "strangers/seed-901",
    "the package's pair": "numbers-4",
    "deep sets": "strangers/deep-sets",
    "Lazaridou et al. 2017": "strangers/la-2017",
    "Lazaridou et al. 2018": "strangers/la-2018",
}
"""The folders of the learned partners."""
RATE = 0.1
"""How often the noisy one is misheard and the liar lies."""
PEOPLE_BETA = 3.1548
SPEAKERS, SPEAKERS_LAPSE = (0.143, 0.854, 0.003), 0.10
LISTENERS, LISTENERS_LAPSE = (0.691, 0.213, 0.096), 0.14
"""The probabilities of depths 0, 1 and 2, and the lapse rates of the 58 speakers and 59 listeners."""


@dataclass(frozen=True)
class Partner:
    """Somebody to play with, in either role."""

    name: str
    pair: Pair
    speak: MessagePolicy = argmax
    answer: ActionPolicy = argmax
    noise: float = 0.0
    """How likely a word between this partner and whomever is received as another one; neither knows."""


class RecursionTeacher(AbstractTeacher[Context]):
    """Σ_t w_t S_t: speakers of several depths. Her values are log probabilities."""

    model: ExactModel
    """Its weights of depths are hers; depth 0 is a random true word."""

    def encode(self, context: Context) -> Context:
        return context

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def values(self, encoding: Context, target: Int[Array, ""], state: AgentState) -> Values:
        weights = jnp.asarray(self.model.depth_weights)
        teachers = self.model.recursion(encoding, state.belief, len(weights) - 1).teacher[:, target]
        return jnp.log(jnp.tensordot(weights, teachers, axes=1))

    def observe(self, encoding: Context, state: AgentState, message: Int[Array, ""]) -> AgentState:
        return AgentState(self.model.beliefs(encoding, state.belief)[:, message], active=state.active)

    def message_probabilities(self, values: Values) -> MessageProbabilities:
        return normalize(jnp.exp(values), axis=0)


def lapse(rate: float) -> Callable[[Key[Array, ""], Float[Array, "choices *#games"]], Index]:
    """Any word with this probability, else one by log probabilities."""
    return lambda key, values: categorical(key, rate / len(values) + (1 - rate) * jax.nn.softmax(values, axis=0))


def lapse_in_answering(rate: float) -> ActionPolicy:
    """Any candidate with this probability, else one by the belief. Lapses leave waiting alone."""

    def answer(key: Key[Array, ""], policy: Policy) -> Index:
        answers, wait = policy[:-1], policy[-1:]
        return categorical(key, jnp.append((1 - rate) * answers + rate * (1 - wait) / len(answers), wait))

    return answer


def lie(key: Key[Array, ""], values: Values) -> Index:
    """One time in ten an untrue word, if there is one; else the best."""
    lie_key, word_key = jax.random.split(key)
    untrue = values <= UNTRUE
    lies = jnp.any(untrue) & (jax.random.uniform(lie_key) < RATE)
    return jnp.where(lies, categorical(word_key, untrue.astype(jnp.float32)), jnp.argmax(values))


def mislead(key: Key[Array, ""], policy: Policy) -> Index:
    """One time in ten another candidate than the one he believes in; else that one."""
    lie_key, other_key = jax.random.split(key)
    best, candidates = jnp.argmax(policy), len(policy) - 1
    other = jax.random.randint(other_key, (), 0, max(1, candidates - 1))
    other = jnp.minimum(other + (other >= best), candidates - 1)
    lies = (best < candidates) & (jax.random.uniform(lie_key) < RATE)
    return jnp.where(lies, other, best)


# One function for equal settings, so that programs are compiled once.
PEOPLE_SPEAK, PEOPLE_ANSWER = lapse(SPEAKERS_LAPSE), lapse_in_answering(LISTENERS_LAPSE)
SAY_ANYTHING_TRUE = lapse(0.0)


def exact_pair(rules: Rules, depth: int, utility: Utility = "belief") -> Pair:
    # Arrays, so that one compiled program serves all depths.
    beta = jnp.asarray(10.0 if utility == "belief" else 1.0)
    model = ExactModel(jnp.asarray(depth), beta, utility=utility, noise=rules.noise)
    return Pair(ExactTeacher(model), ExactStudent(model, rules.message_cost))


def people(speakers: tuple[float, ...], listeners: tuple[float, ...], beta: float, rules: Rules) -> Pair:
    teacher, student = (
        ExactModel(0, beta, noise=rules.noise, depth_weights=weights) for weights in (speakers, listeners)
    )
    return Pair(RecursionTeacher(teacher), ExactStudent(student, rules.message_cost))


def exact_partners(rules: Rules) -> list[Partner]:
    """Those who need no weights: they play any game."""
    exact = partial(exact_pair, rules)
    return [
        Partner("literal", exact(0)),
        *(Partner(f"depth {depth}", exact(depth)) for depth in (1, 2, 3)),
        *(Partner(f"log, depth {depth}", exact(depth, "log")) for depth in (1, 3)),
        Partner("random true word", people((1.0,), (1.0,), 10.0, rules), SAY_ANYTHING_TRUE),
        Partner("people", people(SPEAKERS, LISTENERS, PEOPLE_BETA, rules), PEOPLE_SPEAK, PEOPLE_ANSWER),
        Partner("noisy", exact(3), noise=RATE),
        Partner("liar", exact(3), lie, mislead),
    ]


def learned_partners(task: Task, own: Path | None = None) -> Iterator[Partner]:
    """Those of the package who were trained with this game and are not the run of `own` itself."""
    for name, folder in LEARNED.items():
        space, candidates = GAMES[read_config(WEIGHTS / folder).game.game]
        if own is not None and own.resolve() == (WEIGHTS / folder).resolve():
            continue
        if task.rules.candidates == candidates and task.rules.rounds == 1 and same_space(load_space(space), task.space):
            yield Partner(name, shipped_run(folder).pair())


@cache
def shipped_run(folder: str) -> Run:
    return open_run(WEIGHTS / folder)


def run_partners(run: Run, name: str, phase: int | None = None, index: int | None = None) -> list[Partner]:
    """The pairs of a run, or one of them, as partners."""
    pairs = range(run.config.optimiser.pairs) if index is None else [index]
    several = len(pairs) > 1
    return [Partner(f"{name}:{i}" if several else name, run.pair(phase, i)) for i in pairs]

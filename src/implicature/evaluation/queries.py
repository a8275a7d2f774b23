"""What any player would say and believe in a context, asked and answered in words.

    teacher.speak(context, target)     P(word) of each word, when the target is meant
    teacher.expects(context)           what she thinks he would believe, P(target) of each candidate, after every word
    student.listen(context, word)      P(target) of each candidate, after the word

An exact player and an agent of your own take the words of the context; a run's agents know those of their space.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from re import sub
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt8

from implicature.agents.contracts import AbstractStudent, AbstractTeacher
from implicature.evaluation.players import (
    ROLES,
    Player,
    PlayerSpec,
    Role,
    check_traceable,
    load_player,
    make_agent,
    plain_errors,
    run_agents,
)
from implicature.games.context import Context
from implicature.games.parsing import quote
from implicature.games.rules import Rules
from implicature.nn.image_encoder import ImageEncoder
from implicature.spaces import Space
from implicature.spaces.images import instance_image
from implicature.training.runs.run import Run


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words of a run's space, and its images where its agents see them."""

    space: Space
    encoder: ImageEncoder | None = None
    live_words: int = 0
    """How many words a game has where it has not all of them."""

    def word(self, name: str) -> int:
        """The index of a word."""
        if name not in self.space.words:
            raise ValueError(f"{quote(name)} is not a word of {self.space.name}: say one of {self.listing}.")
        return self.space.words.index(name)

    @property
    def listing(self) -> str:
        words = self.space.words
        return ", ".join(map(quote, words[:12])) + (", …" if len(words) > 12 else "")

    def translate(self, context: Context) -> Context:
        """The context in this vocabulary: the same candidates, with this space's words and features. Words cost what
        the context says, and else what they cost in training."""
        space = self.space
        if (rows := self.rows(context)) is not None:
            features, meaning = space.features[rows], space.lexicon.meaning[rows]
            images = None if self.encoder is None else [instance_image(space, row) for row in rows]
        elif space.words_are_attributes and set(context.words) <= set(space.attributes):
            # Candidates may be any combination of attributes.
            meaning = np.zeros((len(context.candidates), len(space.words)), bool)
            meaning[:, [space.words.index(word) for word in context.words]] = np.asarray(context.lexicon)
            features, images = meaning, None if self.encoder is None else [self.image(row) for row in meaning]
        else:
            word = next((word for word in context.words if word not in space.words), None)
            what = f"the candidate {quote(context.candidates[0])}" if word is None else f"the word {quote(word)}"
            raise ValueError(
                f"This player does not know {what}: it was trained on {space.name}, whose words are {self.listing}."
            )
        seen = jnp.asarray(features, jnp.float32)
        if self.encoder is not None and images is not None:
            seen = self.encoder(jnp.asarray(np.stack(images)))
        return Context(
            features=seen,
            lexicon=jnp.asarray(meaning),
            prior=context.prior,
            costs=self.costs(context),
            cells=context.cells,
        )

    def rows(self, context: Context) -> list[int] | None:
        """The instances of this space that the candidates are, made from it or called like them."""
        space, rows = self.space, list(context.instances)
        if rows and max(rows) < space.instances and np.array_equal(space.features[rows], context.features):
            return rows
        # Of two candidates with the same name the second is called "whale (2)".
        names = [name if name in (space.labels or ()) else sub(r" \(\d+\)$", "", name) for name in context.candidates]
        labels = list(space.labels or ())
        return [labels.index(name) for name in names] if set(names) <= set(labels) else None

    def costs(self, context: Context) -> Float[Array, " messages"] | None:
        costs = dict(zip(self.space.words, self.space.lexicon.costs.tolist(), strict=True))
        if context.costs is not None:
            given = zip(context.words, context.costs.tolist(), strict=True)
            costs |= {word: cost for word, cost in given if word in costs}
        return jnp.asarray(list(costs.values()), jnp.float32) if any(costs.values()) else None

    def narrow(self, context: Context, said: list[int]) -> tuple[Context, list[int]]:
        """The context with the words that are true of some candidate, those that were said, and others, as the run's
        games have them; and which words these are."""
        everything = range(len(self.space.words))
        if not self.live_words:
            return context, list(everything)
        table = np.asarray(context.lexicon)
        needed = list(dict.fromkeys([*np.flatnonzero(table.any(axis=0)).tolist(), *said]))
        others = (word for word in everything if word not in set(needed))
        ids = [*needed, *islice(others, max(0, self.live_words - len(needed)))]
        narrowed = Context(
            features=jnp.asarray(table[:, ids], jnp.float32),
            lexicon=jnp.asarray(table[:, ids]),
            prior=context.prior,
            costs=None if context.costs is None else context.costs[jnp.array(ids)],
            cells=context.cells,
            word_ids=jnp.array(ids),
        )
        return narrowed, ids

    def image(self, attributes: Bool[np.ndarray, " words"]) -> UInt8[np.ndarray, "side side 3"]:
        """The first image of the instance that has exactly these attributes."""
        same = np.flatnonzero((self.space.table == attributes).all(axis=1))
        if not len(same) or self.space.images is None:
            names = ",".join(word for word, true in zip(self.space.attributes, attributes, strict=True) if true)
            raise ValueError(
                f"This player sees images, and {self.space.name} has none of {quote(names)}: give each candidate all "
                "attributes of an instance."
            )
        return instance_image(self.space, int(same[0]))


@eqx.filter_jit
def _speak(
    teacher: AbstractTeacher, context: Context, target: Int[Array, ""], rules: Rules, said: Int[Array, " words"]
) -> Float[Array, " messages"]:
    encoding, state = teacher.encode(context), teacher.init_state(context, rules)
    for i in range(len(said)):
        state = teacher.observe(encoding, state, said[i])
    return teacher.message_probabilities(teacher.values(encoding, target, state))


@eqx.filter_jit
def _expects(
    teacher: AbstractTeacher, context: Context, rules: Rules, said: Int[Array, " words"], words: Int[Array, " messages"]
) -> Float[Array, "messages candidates"]:
    encoding, state = teacher.encode(context), teacher.init_state(context, rules)
    for i in range(len(said)):
        state = teacher.observe(encoding, state, said[i])
    return jax.lax.map(lambda word: teacher.observe(encoding, state, word).belief, words)


@eqx.filter_jit
def _listen(
    student: AbstractStudent, context: Context, rules: Rules, heard: Int[Array, " words"]
) -> Float[Array, " candidates"]:
    encoding, state = student.encode(context), student.init_state(context, rules)
    for i in range(len(heard)):
        state = student.update(encoding, state, heard[i])
    return state.belief


class Question(NamedTuple):
    """A context and words, as an agent takes them."""

    agent: AbstractTeacher | AbstractStudent
    context: Context
    vocabulary: tuple[str, ...]
    rules: Rules
    messages: Int[Array, " words"]


def listed(context: Context, vocabulary: Sequence[str]) -> list[str]:
    """All words of the player, those of the context first."""
    return [*dict.fromkeys([*(word for word in context.words if word in vocabulary), *vocabulary])]


@dataclass(frozen=True, eq=False)
class NamedPlayer:
    """A player who is asked in words. A subclass for each role says what is asked."""

    spec: PlayerSpec
    role: Role
    trained: AbstractTeacher | AbstractStudent | None = None
    """The agent of a run; other players are made for each context."""
    vocabulary: Vocabulary | None = None
    """The words of that run; other players take those of the context."""

    def prepare(self, context: Context, words: Sequence[str]) -> Question:
        if not context.candidates:
            raise ValueError("This context is made of arrays without names: name its candidates to ask in words.")
        rules = Rules(len(context.candidates), len(words) + 1)
        if self.vocabulary is None:
            vocabulary, indices = context.words, [context.word(word) for word in words]
            context = context.unnamed()
        else:
            context = self.vocabulary.translate(context)
            said = [self.vocabulary.word(word) for word in words]
            context, ids = self.vocabulary.narrow(context, said)
            vocabulary, indices = tuple(self.vocabulary.space.words[i] for i in ids), [ids.index(i) for i in said]
        agent = self.trained or make_agent(self.spec, self.role, len(vocabulary), rules)
        check_traceable(agent, self.spec, context, rules)
        return Question(agent, context, vocabulary, rules, jnp.array(indices, jnp.int32))


@dataclass(frozen=True, eq=False)
class TeacherPlayer(NamedPlayer):
    """A teacher of any kind, to ask what she would say."""

    def speak(self, context: Context, target: int | str = 0, said: Sequence[str] = ()) -> dict[str, float]:
        """How likely she is to say each word when the target (its position or name) is meant, after what was said."""
        position = context.position(target)
        agent, plain, vocabulary, rules, messages = self.prepare(context, said)
        assert isinstance(agent, AbstractTeacher)
        with plain_errors():
            probabilities = np.asarray(_speak(agent, plain, jnp.asarray(position), rules, messages), float)
        by_word = dict(zip(vocabulary, probabilities.tolist(), strict=True))
        return {word: by_word[word] for word in listed(context, vocabulary)}

    def expects(self, context: Context, said: Sequence[str] = ()) -> dict[str, dict[str, float]]:
        """For every word, what she thinks he would believe if she said it now: the chance of each candidate. A teacher
        without a model of him (a baseline, a function of your own) expects him to keep his prior."""
        agent, plain, vocabulary, rules, messages = self.prepare(context, said)
        assert isinstance(agent, AbstractTeacher)
        with plain_errors():
            table = np.asarray(_expects(agent, plain, rules, messages, jnp.arange(len(vocabulary))), float)
        by_word = dict(zip(vocabulary, table.tolist(), strict=True))
        return {word: dict(zip(context.candidates, by_word[word], strict=True)) for word in listed(context, vocabulary)}


@dataclass(frozen=True, eq=False)
class StudentPlayer(NamedPlayer):
    """A student of any kind, to ask what he would believe."""

    def listen(self, context: Context, *words: str) -> dict[str, float]:
        """How likely he takes each candidate to be the target after these words, one after the other."""
        agent, plain, _, rules, messages = self.prepare(context, words)
        assert isinstance(agent, AbstractStudent)
        with plain_errors():
            belief = np.asarray(_listen(agent, plain, rules, messages), float)
        return dict(zip(context.candidates, belief.tolist(), strict=True))


def load_players(
    player: Player, student: Player | None = None, phase: int | None = None
) -> tuple[TeacherPlayer, StudentPlayer]:
    """A teacher and a student to ask; one player alone takes both roles. Of a run with several pairs, the first."""
    opened: dict[Path, Run] = {}
    specs = load_player(player, opened), load_player(player if student is None else student, opened)
    made: list[tuple[AbstractTeacher | AbstractStudent | None, Vocabulary | None]] = []
    for spec, role in zip(specs, ROLES, strict=True):
        if spec.run is None:
            made.append((None, None))
        else:
            agent, encoder = run_agents(spec.run, role, phase, spec.pair_index)[0]
            made.append((agent, Vocabulary(spec.run.task.space, encoder, spec.run.config.data.live_words or 0)))
    return TeacherPlayer(specs[0], ROLES[0], *made[0]), StudentPlayer(specs[1], ROLES[1], *made[1])

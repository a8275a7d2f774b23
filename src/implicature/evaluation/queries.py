"""What any player would say and believe in a context, asked and answered in words.

    teacher.speak(context, target)   P(word) of each word, when the target is meant
    student.listen(context, word)    P(target) of each candidate, after the word

An exact player and an agent of your own take the words of the context; a run's agents know those of their space.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
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
from implicature.training.run import Run


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words of a run's space, and its images where its agents see them."""

    space: Space
    encoder: ImageEncoder | None = None

    def word(self, name: str) -> int:
        """The index of a word."""
        if name not in self.space.attributes:
            raise ValueError(f"{quote(name)} is not a word of {self.space.name}: say one of {self.listing}.")
        return self.space.attributes.index(name)

    @property
    def listing(self) -> str:
        words = self.space.attributes
        return ", ".join(map(quote, words[:12])) + (", …" if len(words) > 12 else "")

    def translate(self, context: Context) -> Context:
        """The context in this vocabulary: the same candidates, with this space's words and features."""
        words = self.space.attributes
        if unknown := [word for word in context.words if word not in words]:
            raise ValueError(
                f"This player does not know the word {quote(unknown[0])}: it was trained on {self.space.name}, whose "
                f"words are {self.listing}."
            )
        lexicon = np.zeros((len(context.candidates), len(words)), bool)
        lexicon[:, [words.index(word) for word in context.words]] = np.asarray(context.lexicon)
        features = jnp.asarray(lexicon, jnp.float32)
        if self.encoder is not None:
            features = self.encoder(jnp.asarray(np.stack([self.image(attributes) for attributes in lexicon])))
        return Context(features=features, lexicon=jnp.asarray(lexicon), prior=context.prior)

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
            # Without the names, which would compile a program for each context.
            context = Context(features=context.features, lexicon=context.lexicon, prior=context.prior)
        else:
            context = self.vocabulary.translate(context)
            vocabulary, indices = self.vocabulary.space.attributes, [self.vocabulary.word(word) for word in words]
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
        return {word: by_word[word] for word in dict.fromkeys([*context.words, *vocabulary])}


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
            made.append((agent, Vocabulary(spec.run.task.space, encoder)))
    return TeacherPlayer(specs[0], ROLES[0], *made[0]), StudentPlayer(specs[1], ROLES[1], *made[1])

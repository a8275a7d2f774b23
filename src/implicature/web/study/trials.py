"""A trial as the participant sees it, and as a game that agents play along with: what they would believe and score."""

from dataclasses import dataclass
from functools import lru_cache

import jax.numpy as jnp
import numpy as np

from implicature.agents.exact import ExactModel
from implicature.agents.rsa import TIE
from implicature.spaces import Space
from implicature.web.dealing import (
    EXACT_DEPTH,
    LITERAL_DEPTH,
    DealtGame,
    PlayableGame,
    deal_game,
    pad_candidates,
    padded_lexicon,
    playable_games,
    uniform_prior,
)
from implicature.web.players import PlayableAgent, exact_agent
from implicature.web.rounds import Round, expected_returns, play_rounds
from implicature.web.study.order import Step


@dataclass(frozen=True)
class Cards:
    """The cards of a trial in the order in which the participant sees them."""

    attributes: tuple[tuple[str, ...], ...]
    """What is drawn, also where no word is for it."""
    labels: tuple[str, ...]
    target: int
    instances: tuple[int, ...] = ()
    """Of a dealt game: what its images are found by."""


@dataclass(frozen=True, eq=False)
class PlayableTrial:
    """The same as a game of exact agents."""

    cards: Cards
    game: PlayableGame
    dealt: DealtGame
    agent: PlayableAgent
    depth: int
    said: int | None
    """The word that the plan lets her say; None where an agent or the participant chooses."""

    @property
    def words(self) -> tuple[str, ...]:
        return self.game.space.attributes

    def play(self, word: int | None = None) -> Round:
        """The round with the participant's word, the plan's, or else the exact teacher's."""
        forced = self.said if word is None else word
        return play_rounds(self.agent, self.game, self.depth, self.dealt, () if forced is None else (forced,))[0]

    def scores(self) -> tuple[float, float]:
        """What a literal and an exact player can expect: as the student after the plan's word, else as a pair."""
        if self.said is None:
            return expected_returns(self.game, self.dealt)
        return round(self.chance(LITERAL_DEPTH), 3), round(self.chance(EXACT_DEPTH), 3)

    def chance(self, depth: int) -> float:
        """How often the student of this depth, who takes the most likely card, finds the target."""
        rows = pad_candidates(np.asarray(self.dealt.instances), self.game.space.instances)
        lexicon = jnp.asarray(padded_lexicon(self.game)[rows])
        prior = jnp.asarray(uniform_prior(len(self.dealt.instances), len(rows)))
        model = ExactModel(jnp.asarray(depth), share=jnp.asarray(self.game.share))
        belief = np.asarray(model.tables(lexicon, prior)[1])[:, self.said]
        best = belief >= belief.max() - TIE
        return float(best[self.dealt.target] / best.sum())


@lru_cache(maxsize=16_384)
def cards_of(step: Step) -> Cards:
    trial = step.trial
    assert trial is not None
    if trial.game is not None:
        game, dealt = deal(step)
        attributes = tuple(tuple(game.space.names(i)) for i in dealt.instances)
        labels = tuple(game.describe(i).removeprefix("the ") for i in dealt.instances)
        return Cards(attributes, labels, dealt.target, dealt.instances)
    assert trial.objects is not None
    assert trial.target is not None
    order = np.random.default_rng(step.card_seed).permutation(len(trial.objects)).tolist()
    labels = tuple(" ".join(trial.objects[i].split()) for i in order)
    return Cards(tuple(tuple(one.split()) for one in labels), labels, order.index(trial.target - 1))


def deal(step: Step) -> tuple[PlayableGame, DealtGame]:
    """The game of the page that a trial names."""
    assert step.trial is not None
    game = playable_games()[step.trial.game or ""]
    return game, deal_game(game, None, None, step.trial.seed or 0, True, 1)


@lru_cache(maxsize=16_384)
def playable_trial(step: Step, depth: int) -> PlayableTrial:
    """A trial that is no attention check."""
    cards, trial = cards_of(step), step.trial
    assert trial is not None
    if trial.game is not None:
        game, dealt = deal(step)
        return PlayableTrial(cards, game, dealt, exact_agent({game.name: game}), depth, None)
    table = np.array([[word in names for word in step.words] for names in cards.attributes], bool)
    name = trial.id or "trial"
    space = Space(name, step.words, table, labels=cards.labels)
    game = PlayableGame(name, "", "words", space, len(cards.labels))
    dealt = DealtGame(name, tuple(range(len(cards.labels))), cards.target, step.card_seed, 1)
    said = None if trial.word is None else step.words.index(trial.word)
    return PlayableTrial(cards, game, dealt, exact_agent({name: game}), depth, said)

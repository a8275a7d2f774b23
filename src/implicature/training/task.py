"""A config made concrete: the space, the rules, training and validation games."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from implicature.agents.perspectives import FeatureTable, Perspectives, perspectives, sample_views
from implicature.games.contexts import Neighbours, neighbours
from implicature.games.live import LiveWords, live_words
from implicature.games.registry import check_candidates
from implicature.games.rules import Rules, check_word_costs
from implicature.games.sampling import Game, draw_mixed_games
from implicature.games.semantics import GameWords, MeaningTable, Semantics, space_semantics
from implicature.games.splits import Split, check_split, split_instances
from implicature.nn.image_encoder import Observations
from implicature.spaces import Space
from implicature.training.checks import check_config, check_min_candidates, check_size, check_whole_class
from implicature.training.config import Config
from implicature.training.resolve import resolve
from implicature.training.runs.space_file import task_space

VALIDATION_GAMES = 2_000


class GameData(eqx.Module):
    """What games are made of: observations of instances, what is true of them, and the training games."""

    observations: Observations
    lexicon: MeaningTable
    """What each word means of each instance: Boolean, or graded in [0, 1]."""
    games: Game
    costs: Float[Array, " messages"] | None = None
    """What each word costs; None: nothing."""
    salience: Float[Array, " instances"] | None = None
    """How likely each instance is to be meant, as weights; None: all alike."""
    cells: Int[Array, " instances"] | None = None
    """The answer to the question under discussion that each instance is; None: the target itself is to be found."""
    live: LiveWords | None = None
    """Where games have only the words that matter in them; None: all words."""
    mixed: bool = eqx.field(static=True, default=False)
    """Whether games have different numbers of candidates."""

    @property
    def semantics(self) -> Semantics:
        return Semantics(self.lexicon, self.costs, self.salience, self.cells, self.live, self.mixed)

    @property
    def uniform(self) -> bool:
        """Whether each candidate of any game is as likely to be the target as another."""
        return self.salience is None and not self.mixed

    @property
    def n_messages(self) -> int:
        """In one game."""
        return self.lexicon.shape[1] if self.live is None else self.live.size

    @property
    def views_per_instance(self) -> int:
        return len(self.observations) // len(self.lexicon)

    def with_views(self, key: Key[Array, ""], game: Game) -> Game:
        """The game with observations for candidates: a random view of each instance."""
        return Game(sample_views(key, game.candidates, self.views_per_instance), game.target, game.order)

    def sample(self, key: Key[Array, ""], candidate_sets: int, all_targets: bool) -> Game:
        """Training games, targets × candidate sets (as observations): all targets of each set, or one. Where some are
        more salient than others, or absent, targets are as frequent as the prior has it, so that no loss needs to weigh
        them."""
        row_key, target_key, view_key = jax.random.split(key, 3)
        number, candidates = self.games.candidates.shape
        row = jax.random.randint(row_key, (candidate_sets,), 0, number)
        if not self.uniform:
            prior = self.semantics.prior(self.games.candidates[row].T)
            target = systematic_sample(target_key, prior, candidates if all_targets else 1)
        elif all_targets:
            target = jnp.tile(jnp.arange(candidates)[:, None], candidate_sets)
        else:
            target = jax.random.randint(target_key, (1, candidate_sets), 0, candidates)
        game = Game(self.games.candidates[row].T[:, None], target, self.games.order[row].T[:, None])
        return self.with_views(view_key, game)

    def words_of(self, observations: Int[Array, "candidates *#games"]) -> GameWords:
        """The words of games with these candidates."""
        return self.semantics.in_game(observations // self.views_per_instance)

    def cells_of(self, observations: Int[Array, "candidates *#games"]) -> Int[Array, "candidates *#games"] | None:
        return None if self.cells is None else self.cells[observations // self.views_per_instance]

    def perspectives(self, game: Game, features: FeatureTable) -> Perspectives:
        """A game of observations as each agent sees it."""
        return perspectives(game, features, self.semantics, self.views_per_instance)


def systematic_sample(
    key: Key[Array, ""], probabilities: Float[Array, "choices games"], size: int
) -> Int[Array, "size games"]:
    """`size` choices of each game: choice i ⌊size · p_i⌋ or ⌈size · p_i⌉ times, size · p_i on average."""
    cumulative = jnp.cumsum(probabilities, axis=0)[:-1]
    points = (jnp.arange(size)[:, None] + jax.random.uniform(key, probabilities.shape[1:])) / size
    return jnp.sum(points[:, None] >= cumulative, axis=1, dtype=jnp.int32)


@dataclass(frozen=True)
class Task:
    """What is to be learned. The config is resolved."""

    config: Config
    space: Space
    rules: Rules
    data: GameData
    validation: Game
    neighbours: Neighbours | None = None
    """Where contexts are near."""

    @property
    def words(self) -> tuple[str, ...]:
        """The names of the messages: the space's, or w1, w2 … in an ungrounded pair, whose words mean none of these."""
        words = self.space.words
        return words if self.config.grounding.grounded else tuple(f"w{i + 1}" for i in range(len(words)))


def make_task(config: Config, loaded: tuple[Space, int] | None = None) -> Task:
    """The task of a config, in the space that it names, or in one that was loaded with its number of candidates."""
    check_config(config)
    space, candidates = task_space(config) if loaded is None else loaded
    config = resolve(config, space, candidates)
    check_whole_class(config, candidates, space)
    check_min_candidates(config, candidates)
    check_size(config, candidates, space)
    rules = config.game.rules(candidates)
    instances = task_instances(config, space, held_out=False)
    check_candidates(space, candidates, len(instances))
    split_seed = config.data.split_seed
    # Better now than after training.
    if not config.data.whole_class:
        check_split(task_instances(config, space, held_out=True), candidates, "test", split_seed)
    train_key, validation_key = jax.random.split(jax.random.key(split_seed))
    semantics = space_semantics(space, config.game.question)
    check_word_costs(space.lexicon.costs.tolist(), rules.message_cost)
    near = neighbours(space, config.game.contexts, config.game.context_temperature)
    how = None, semantics.salience, near
    assert config.game.min_candidates is not None  # resolved
    sizes = config.game.min_candidates, candidates
    assert config.data.train_games is not None  # resolved
    train, val = task_split(config, "train"), task_split(config, "validation")
    games = draw_mixed_games(train_key, config.data.train_games, *sizes, instances, train, split_seed, *how)
    validation = draw_mixed_games(validation_key, VALIDATION_GAMES, *sizes, instances, val, split_seed, *how)
    observations = task_observations(config, space)
    live = live_words(space, config.data.live_words or 0)
    mixed = sizes[0] < sizes[1]
    data = GameData(
        observations, semantics.meaning, games, semantics.costs, semantics.salience, semantics.cells, live, mixed
    )
    return Task(config, space, rules, data, validation, near)


def task_split(config: Config, split: Split) -> Split | None:
    """Where every game has all instances there is one candidate set only, in training and in testing (F-78)."""
    return None if config.data.whole_class else split


def task_instances(config: Config, space: Space, held_out: bool) -> Int[Array, " instances"]:
    """The instances that games are made of: those used in training, or those held out (all, where none are)."""
    fraction = config.data.train_instance_fraction
    if fraction >= 1:
        return jnp.arange(space.instances)
    train, test = split_instances(space.instances, fraction, config.data.split_seed)
    return jnp.asarray(test if held_out else train)


def task_observations(config: Config, space: Space) -> Observations:
    """Images where the pair has an image encoder, else attributes."""
    if config.encoder.encoder == "none":
        return jnp.asarray(space.features, jnp.float32)
    if space.images is None:
        raise ValueError(f"The space {space.name} has no images: leave out --encoder, or give it some.")
    return jnp.asarray(space.images.reshape(-1, *space.images.shape[2:]))

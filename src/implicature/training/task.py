"""A config made concrete: the space, the rules, training and validation games."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key

from implicature.agents.perspectives import FeatureTable, Perspectives, perspectives, sample_views
from implicature.games.registry import check_candidates, load_game, load_images
from implicature.games.rules import Rules
from implicature.games.sampling import Game, draw_games
from implicature.games.splits import check_split, split_instances
from implicature.nn.image_encoder import Observations
from implicature.spaces import Space
from implicature.training.checks import check_config, check_size
from implicature.training.config import Config
from implicature.training.resolve import resolve

VALIDATION_GAMES = 2_000


class GameData(eqx.Module):
    """What games are made of: observations of instances, what is true of them, and the training games."""

    observations: Observations
    lexicon: Bool[Array, "instances messages"]
    games: Game

    @property
    def views_per_instance(self) -> int:
        return len(self.observations) // len(self.lexicon)

    def with_views(self, key: Key[Array, ""], game: Game) -> Game:
        """The game with observations for candidates: a random view of each instance."""
        return Game(sample_views(key, game.candidates, self.views_per_instance), game.target, game.order)

    def sample(self, key: Key[Array, ""], candidate_sets: int, all_targets: bool) -> Game:
        """Training games, targets × candidate sets (as observations): all targets of each set, or one."""
        row_key, target_key, view_key = jax.random.split(key, 3)
        number, candidates = self.games.candidates.shape
        row = jax.random.randint(row_key, (candidate_sets,), 0, number)
        if all_targets:
            target = jnp.tile(jnp.arange(candidates)[:, None], candidate_sets)
        else:
            target = jax.random.randint(target_key, (1, candidate_sets), 0, candidates)
        game = Game(self.games.candidates[row].T[:, None], target, self.games.order[row].T[:, None])
        return self.with_views(view_key, game)

    def perspectives(self, game: Game, features: FeatureTable) -> Perspectives:
        """A game of observations as each agent sees it."""
        return perspectives(game, features, self.lexicon, self.views_per_instance)


@dataclass(frozen=True)
class Task:
    """What is to be learned. The config is resolved."""

    config: Config
    space: Space
    rules: Rules
    data: GameData
    validation: Game


def make_task(config: Config) -> Task:
    check_config(config)
    space, candidates = task_space(config)
    config = resolve(config, space, candidates)
    check_size(config, candidates, space)
    rules = Rules(candidates, config.game.rounds, config.game.message_cost)
    instances = task_instances(config, space, held_out=False)
    check_candidates(space, candidates, len(instances))
    split_seed = config.data.split_seed
    # Better now than after training.
    check_split(task_instances(config, space, held_out=True), candidates, "test", split_seed)
    train_key, validation_key = jax.random.split(jax.random.key(split_seed))
    games = draw_games(train_key, config.data.train_games, candidates, instances, "train", split_seed)
    validation = draw_games(validation_key, VALIDATION_GAMES, candidates, instances, "validation", split_seed)
    data = GameData(task_observations(config, space), jnp.asarray(space.table), games)
    return Task(config, space, rules, data, validation)


def task_space(config: Config) -> tuple[Space, int]:
    """The space, with the images that were asked for, and the number of candidates."""
    space, candidates = load_game(config.game.game, config.game.space, config.game.candidates)
    return space if config.game.images is None else load_images(space, config.game.images), candidates


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
        return jnp.asarray(space.table, jnp.float32)
    if space.images is None:
        raise ValueError(f"The space {space.name} has no images: leave out --encoder, or give it some.")
    return jnp.asarray(space.images.reshape(-1, *space.images.shape[2:]))

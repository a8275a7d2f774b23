"""Pairs on games that they were not trained with."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from implicature.agents.contracts import Pair
from implicature.agents.perspectives import FeatureTable
from implicature.agents.rollout import MessagePolicy, argmax
from implicature.evaluation.rollouts import GameResults, play_games
from implicature.games.registry import check_candidates
from implicature.games.sampling import Game, check_memory, draw_games
from implicature.games.splits import Split
from implicature.nn.image_encoder import ImageEncoder, encode_all
from implicature.spaces import Space
from implicature.training.task import Task, task_instances, task_split

TEST_KEY = 1_000
"""Test games are drawn from keys of their own."""


def held_out_games(
    task: Task,
    games: int,
    seed: int,
    candidates: int | None = None,
    split: Split = "test",
    novel: bool = False,
) -> Game:
    """Games that were not trained with. Test games are of unseen instances where the run held some out, or, with
    `novel`, have an unseen target among any others (table 3)."""
    data = task.config.data
    instances = task_instances(task.config, task.space, held_out=split == "test")
    targets = None
    if novel:
        if data.train_instance_fraction >= 1:
            raise ValueError(
                "This pair was trained with all instances, so no target is novel: train with "
                "--train-instance-fraction 0.8."
            )
        instances, targets = jnp.arange(task.space.instances), instances
    if not 0 <= seed < 2**31:
        raise ValueError(f"{seed} is not a seed: take a whole number from 0 to 2 billion.")
    number = task.rules.candidates if candidates is None else candidates
    check_candidates(task.space, number, len(instances))
    # The lexicon of every game is kept with its result.
    check_memory(games, number * max(1, task.data.n_messages // 16))
    key = jax.random.fold_in(jax.random.key(data.split_seed), TEST_KEY + seed)
    drawn_from, how = task_split(task.config, split), (targets, task.data.salience, task.neighbours)
    return draw_games(key, games, number, instances, drawn_from, data.split_seed, *how)


def play_pair(
    pair: Pair, task: Task, games: Game, equivalent: bool = False, speak: MessagePolicy = argmax
) -> GameResults:
    rules = replace(task.rules, candidates=games.candidates.shape[1])
    categories = renaming_categories(task.space) if equivalent else None
    features = feature_table(pair, task.space)
    return play_games(pair, features, task.data.semantics, games, rules, categories=categories, speak=speak)


def renaming_categories(space: Space) -> Int[Array, " messages"]:
    """Within which attributes are renamed in equivalent games."""
    if not space.words_are_attributes:
        raise ValueError(
            f"Equivalent games rename attributes, but the words of {space.name} are not its attributes: leave out "
            "--equivalent."
        )
    return jnp.asarray(space.category_numbers())


def feature_table(pair: Pair, space: Space, views: int = 1) -> FeatureTable:
    """What any two agents see of a space: who has an image encoder its images, who has none the attributes. `views` of
    each instance where neither sees images, but others who play the same games do."""
    encoders = [encoder for encoder in (pair.teacher_encoder, pair.student_encoder) if encoder is not None]
    images = jnp.zeros((0, 64, 64, 3), jnp.uint8)
    if encoders:
        if space.images is None:
            raise ValueError(f"These agents see images, but the space {space.name} has none.")
        views = space.images.shape[1]
        images = jnp.asarray(space.images.reshape(-1, *space.images.shape[2:]))
        for encoder in encoders:
            if encoder.side != images.shape[1]:
                raise ValueError(
                    f"These agents see images of {encoder.side} × {encoder.side} pixels, but here they have "
                    f"{images.shape[1]} a side: render or save them in that size."
                )
    attributes = jnp.repeat(jnp.asarray(space.features, jnp.float32), views, axis=0)

    def rows(encoder: ImageEncoder | None) -> jax.Array:
        return attributes if encoder is None else eqx.filter_jit(encode_all)(encoder, images)

    return FeatureTable(rows(pair.teacher_encoder), rows(pair.student_encoder), views)


def aggregate(each: list[dict[str, Any]]) -> dict[str, Any]:
    """One pair's figures as they are; several pairs' as mean, std and each."""
    if len(each) == 1:
        return each[0]
    names = ("accuracy", "hard_accuracy", "valid", "messages", "return")
    mean = {name: float(np.mean([one[name] for one in each])) for name in names}
    std = {name: float(np.std([one[name] for one in each])) for name in names}
    levels = list(dict.fromkeys(level for one in each for level in one["by_level"]))
    by_level = {
        level: {k: float(np.mean([one["by_level"][level][k] for one in each])) for k in each[0]["by_level"][level]}
        for level in levels
    }
    return {**mean, "by_level": by_level, "games": each[0]["games"], "std": std, "pairs": len(each), "each": each}

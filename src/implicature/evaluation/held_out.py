"""Trained pairs on held-out games."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from implicature.agents.rollout import Speak, greedily
from implicature.evaluation.rollouts import Played, play_games
from implicature.games.sampling import Game, Rules, Split, check_games, check_memory, draw_games
from implicature.nn.image_encoder import Sights, seen
from implicature.spaces import Space
from implicature.training.algorithm1 import Pair
from implicature.training.run import Setting, instances_of


def held_out_games(
    setting: Setting,
    games: int,
    seed: int,
    candidates: int | None = None,
    split: Split = "test",
    novel: bool = False,
) -> Game:
    """Games that were not trained with. Those to test are of unseen instances where the run held some out, or, with
    `novel`, have an unseen target among any others (table 3); choices are made by validation games."""
    config = setting.config
    instances = instances_of(config, setting.space, seen=split != "test")
    targets = None
    if novel:
        if config.instances >= 1:
            raise ValueError(
                "This pair has trained with all instances, so no target is novel: train with --instances 0.8."
            )
        instances, targets = jnp.arange(setting.space.instances), instances
    if not 0 <= seed < 2**31:
        raise ValueError(f"{seed} is not a seed: take a whole number from 0 to 2 billion.")
    number = setting.rules.candidates if candidates is None else candidates
    check_games(setting.space, number, len(instances))
    # Who plays them also keeps what is true of whom.
    check_memory(games, number * max(1, setting.space.table.shape[1] // 16))
    key = jax.random.fold_in(jax.random.key(config.split), 1_000 + seed)
    return draw_games(key, games, number, instances, split, config.split, targets)


def played_by(pair: Pair, setting: Setting, games: Game, equivalent: bool = False, speak: Speak = greedily) -> Played:
    rules = Rules(games.candidates.shape[1], setting.rules.rounds, setting.rules.message_cost)
    categories = jnp.asarray(setting.space.category_numbers()) if equivalent else None
    sights, truth = sights_between(pair.teacher, pair.student, setting.space), setting.world.truth
    return play_games(pair.teacher, pair.student, sights, truth, games, rules, categories, speak=speak)


def sights_between(teacher: Any, student: Any, space: Space) -> Sights:
    """What any two agents see: who has eyes the pictures, who has none the attributes."""
    eyes = [agent.eyes for agent in (teacher, student)]
    variety = 1
    pictures = jnp.zeros((0, 64, 64, 3), jnp.uint8)
    if any(one is not None for one in eyes):
        if space.pictures is None:
            raise ValueError(f"These agents see pictures, but the space {space.name} has none.")
        variety = space.pictures.shape[1]
        pictures = jnp.asarray(space.pictures.reshape(-1, *space.pictures.shape[2:]))
        for side in (one.side for one in eyes if one is not None):
            if side != pictures.shape[1]:
                raise ValueError(
                    f"These agents see pictures of {side} × {side} pixels, but here they have {pictures.shape[1]} a "
                    "side: draw or save them in that size."
                )
    attributes = jnp.repeat(jnp.asarray(space.table, jnp.float32), variety, axis=0)
    hers, his = (attributes if one is None else eqx.filter_jit(seen)(one, pictures) for one in eyes)
    return Sights(hers, his, variety)


def over_pairs(each: list[dict[str, Any]]) -> dict[str, Any]:
    """One pair's figures as they are; several pairs' as mean, std and each."""
    if len(each) == 1:
        return each[0]

    def std(name: str) -> float:
        return float(np.std([one[name] for one in each]))

    names = ("accuracy", "hard_accuracy", "valid", "rounds", "gain")
    mean = {name: float(np.mean([one[name] for one in each])) for name in names}
    levels = list(dict.fromkeys(level for one in each for level in one["by_level"]))
    by_level = {
        level: {k: float(np.mean([one["by_level"][level][k] for one in each])) for k in each[0]["by_level"][level]}
        for level in levels
    }
    spread = {name: std(name) for name in names}
    return {**mean, "by_level": by_level, "games": each[0]["games"], "std": spread, "pairs": len(each), "each": each}

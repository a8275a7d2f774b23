"""Games are uniform, splits exclusive, equivalent games equivalent."""

import re
from itertools import combinations, permutations
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from implicature.games.registry import GAMES, NEAR_GAMES, check_candidates, load_game
from implicature.games.renaming import equivalent_instances, rename, sample_renaming
from implicature.games.rules import Rules
from implicature.games.sampling import Game, draw_games, sample_distinct, sample_game
from implicature.games.splits import SPLIT_FRACTIONS, SPLITS, check_split, split_instances, split_of
from implicature.spaces import number_sets, objects

KEYS = jax.random.split(jax.random.key(20), 20_000)


def splits_of(candidates: jax.Array, seed: int) -> jax.Array:
    return jax.vmap(lambda combination: split_of(combination, seed))(candidates)


def assert_uniform(drawn: np.ndarray, possible: list[tuple[int, ...]]) -> None:
    """Rows are only the possible ones, each about equally often."""
    counted = dict.fromkeys(possible, 0)
    for row in drawn.tolist():
        counted[tuple(row)] += 1
    assert chisquare(list(counted.values())).pvalue > 1e-4


@pytest.fixture(scope="module")
def games() -> Game:
    """20,000 games of 3 out of 6 instances."""
    return jax.jit(jax.vmap(lambda key: sample_game(key, 3, jnp.arange(6))))(KEYS)


@pytest.fixture(scope="module")
def split_games() -> list[Game]:
    """Games of each split, 4 out of 12 instances; about 50,000 are sampled for each, so that one program does."""
    return [
        draw_games(jax.random.key(i), round(50_000 * SPLIT_FRACTIONS[i]), 4, 12, split)
        for i, split in enumerate(SPLITS)
    ]


def combinations_of(games: Game) -> set[tuple[int, ...]]:
    return set(map(tuple, np.sort(games.candidates, axis=1).tolist()))


# Sampling


@pytest.mark.slow
def test_every_combination_and_every_order_of_it_is_equally_likely(games: Game):
    drawn = np.asarray(games.candidates)
    assert_uniform(np.sort(drawn, axis=1), list(combinations(range(6), 3)))  # C(6, 3) = 20
    assert_uniform(drawn, list(permutations(range(6), 3)))  # 6 · 5 · 4 = 120


def test_every_place_of_the_target_is_equally_likely_whatever_the_students_order(games: Game):
    both = np.column_stack([games.target, games.order])
    assert_uniform(both, [(place, *order) for place in range(3) for order in permutations(range(3))])


def test_the_student_sees_the_same_candidates_in_his_own_order(games: Game):
    game = jax.tree.map(lambda leaf: leaf[0], games)
    assert game.student_candidates.tolist() == [int(game.candidates[j]) for j in game.order]
    # The target stands in each of his places equally often, so that its place tells him nothing.
    places = np.argmax(np.asarray(games.order) == np.asarray(games.target)[:, None], axis=1)
    assert_uniform(places[:, None], [(0,), (1,), (2,)])


@pytest.mark.parametrize(("number", "chosen"), [(7, 7), (40, 33)])
def test_numbers_chosen_are_different_and_in_range(number: int, chosen: int):
    for row in np.asarray(jax.jit(jax.vmap(lambda key: sample_distinct(key, number, chosen)))(KEYS[:50])):
        assert len(set(row.tolist())) == chosen
        assert set(row.tolist()) <= set(range(number))


# Splits


def test_a_combination_is_in_the_same_split_in_any_order():
    orders = jnp.array(list(permutations([3, 17, 180, 384])))
    for seed in range(10):
        assert len(set(splits_of(orders, seed).tolist())) == 1


def test_another_seed_splits_otherwise():
    every = jnp.array(list(combinations(range(12), 4)))
    # Two independent splits agree in 0.8² + 0.1² + 0.1² = 66 % of 495 combinations; four standard errors are 8.5 %.
    same = float(jnp.mean(splits_of(every, 0) == splits_of(every, 1)))
    assert abs(same - 0.66) < 0.085


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shares_of_the_splits_are_80_10_and_10_percent(seed: int):
    every = np.array(list(combinations(range(24), 4)))  # C(24, 4) = 10,626
    shares = np.bincount(splits_of(jnp.asarray(every), seed), minlength=3) / len(every)
    errors = np.sqrt(np.multiply(SPLIT_FRACTIONS, np.subtract(1, SPLIT_FRACTIONS)) / len(every))
    assert np.all(np.abs(shares - SPLIT_FRACTIONS) < 4 * errors)


def test_games_of_a_split_are_all_of_its_combinations_and_no_others(split_games: list[Game]):
    every = np.array(list(combinations(range(12), 4)))
    where = np.asarray(splits_of(jnp.asarray(every), 0))
    for split, games in enumerate(split_games):
        assert combinations_of(games) == set(map(tuple, every[where == split].tolist()))
    assert sum(len(combinations_of(games)) for games in split_games) == comb(12, 4)


@pytest.mark.parametrize("games", [20, 70_000])
def test_fewer_games_of_a_key_are_the_first_of_more(games: int):
    # 20 games are part of what one call draws, the others take two.
    few, more = (draw_games(jax.random.key(1), number, 4, 385, "train") for number in (games, 90_000))
    assert all(np.array_equal(a, b[:games]) for a, b in zip(jax.tree.leaves(few), jax.tree.leaves(more), strict=True))


def test_games_of_a_split_are_uniform_over_its_combinations(split_games: list[Game]):
    for games in split_games:
        assert_uniform(np.sort(games.candidates, axis=1), sorted(combinations_of(games)))
        assert_uniform(np.asarray(games.target)[:, None], [(k,) for k in range(4)])


@pytest.mark.slow
def test_with_targets_the_target_is_one_of_them_and_the_others_are_any_that_keep_to_the_split():
    # Instances 2, 3, 5, 7, 11, 13, given in any order, targets 3 and 13: each with C(5, 2) = 10 pairs of others, those
    # in the training split equally likely, in 3 places.
    pool, targets = [2, 3, 5, 7, 11, 13], [3, 13]
    games = draw_games(jax.random.key(0), 20_000, 3, jnp.array(pool[::-1]), "train", 3, jnp.array(targets))
    candidates, place = np.asarray(games.candidates), np.asarray(games.target)[:, None]
    target = np.take_along_axis(candidates, place, axis=1)
    possible = [triple for triple in combinations(pool, 3) if split_of(jnp.array(triple), 3) == SPLITS.index("train")]
    assert len(possible) < 20
    each = [(*triple, t, k) for triple in possible for t in targets if t in triple for k in range(3)]
    assert_uniform(np.hstack([np.sort(candidates, axis=1), target, place]), each)


@pytest.mark.parametrize(("instances", "share", "sizes"), [(385, 0.7, (270, 115)), (288, 0.8, (230, 58))])
def test_instances_are_split_into_exclusive_parts(instances: int, share: float, sizes: tuple[int, int]):
    # 0.7 · 385 = 269.5 and 0.8 · 288 = 230.4: the paper has 58 novel targets
    first, second = split_instances(instances, share, seed=0)
    assert (len(first), len(second)) == sizes
    assert sorted([*first, *second]) == list(range(instances))
    assert not np.array_equal(first, split_instances(instances, share, seed=1)[0])


# Equivalent games


def sets(*candidates: tuple[int, ...], attributes: int = 10) -> np.ndarray:
    return np.array([[a in candidate for a in range(attributes)] for candidate in candidates])


def test_the_papers_equivalent_game_adds_one_to_all_numbers():
    before = sets((0, 1, 5, 8), (0, 4, 6), (4, 8, 9), (0, 1, 4, 5))
    after = sets((1, 2, 6, 9), (1, 5, 7), (5, 9, 0), (1, 2, 5, 6))
    plus_one = (jnp.arange(10) + 1) % 10
    assert np.array_equal(rename(jnp.asarray(before), plus_one), after)
    table = number_sets(10, 4).table
    assert np.array_equal(table[equivalent_instances(jnp.asarray(before), jnp.asarray(table), plus_one)], after)


@given(st.integers(0, 2**31 - 1))
def test_objects_renamed_within_categories_are_objects_again(seed: int):
    space = objects()
    categories, table = jnp.array(space.category_numbers()), jnp.asarray(space.table)
    renaming = jax.jit(sample_renaming)(jax.random.key(seed), categories)
    assert sorted(renaming.tolist()) == list(range(18))
    assert np.array_equal(categories[renaming], categories)
    becomes = np.asarray(jax.jit(equivalent_instances)(table, table, renaming))
    assert sorted(becomes.tolist()) == list(range(288))  # so none is -1
    assert np.array_equal(space.table[becomes], rename(table, renaming))


def test_every_renaming_is_equally_likely_also_where_categories_are_mixed():
    # Categories 1 0 1 0 1: 3! · 2! = 12 renamings
    drawn = jax.jit(jax.vmap(lambda key: sample_renaming(key, jnp.array([1, 0, 1, 0, 1]))))(KEYS)
    possible = [(a, b, c, d, e) for a, c, e in permutations([0, 2, 4]) for b, d in permutations([1, 3])]
    assert_uniform(np.asarray(drawn), possible)


def test_an_instance_without_an_equivalent_becomes_minus_one():
    # {0} and {0, 1} with 0 and 1 exchanged: {1} does not exist, {1, 0} is itself.
    table = jnp.array([[True, False], [True, True]])
    assert equivalent_instances(table, table, jnp.array([1, 0])).tolist() == [-1, 1]


# What cannot be is a sentence


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: Rules(1), "1 candidates leave nothing to guess: ask for 2 or more."),
        (lambda: Rules(4, rounds=0), "A game of 0 rounds has no message: ask for 1 or more."),
        (lambda: Rules(4, message_cost=1.0), "A message cost of 1.0 is not in [0, 1): a right answer is worth 1."),
        (lambda: Rules(4, message_cost=-0.1), "A message cost of -0.1 is not in [0, 1): a right answer is worth 1."),
        (
            lambda: check_candidates(number_sets(3, 2), 8),
            "8 candidates, but this space has only 6 instances: ask for 6 or fewer.",
        ),
        (
            lambda: draw_games(jax.random.key(0), 5, 4, 3, "train"),
            "4 candidates, but only 3 instances to draw them from: ask for 3 or fewer.",
        ),
        (
            lambda: load_game("numbers-5"),
            f"No game is called 'numbers-5': choose one of {', '.join([*GAMES, *NEAR_GAMES, 'appointment'])}.",
        ),
    ],
)
def test_games_that_cannot_be_are_refused_with_the_way_out(wrong, sentence: str):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        wrong()


def test_a_single_combination_leaves_the_other_splits_empty():
    three = jnp.arange(3)
    for split in set(range(3)) - {int(split_of(three, 0))}:
        with pytest.raises(
            ValueError, match=f"only 1 combinations of 3, and none falls into the {SPLITS[split]} split: "
        ):
            check_split(three, 3, SPLITS[split], seed=0)
    check_split(three, 3, SPLITS[int(split_of(three, 0))], seed=0)


def test_targets_whose_combinations_are_all_in_other_splits_are_refused():
    # With seed 37 the combinations 012, 013, 023, 123 are train, validation, train, test: no test game has target 0.
    every = jnp.array(list(combinations(range(4), 3)))
    assert splits_of(every, 37).tolist() == [0, 1, 0, 2]
    with pytest.raises(ValueError, match="none with one of the targets falls into the test split: "):
        draw_games(jax.random.key(0), 5, 3, 4, "test", seed=37, targets=jnp.array([0]))
    check_split(jnp.arange(4), 3, "test", 37, targets=jnp.array([0, 1]))


def test_rules_name_the_wait_after_the_answers():
    assert Rules(4).wait == 4


@pytest.mark.parametrize(
    ("name", "table"), [("numbers-4", (385, 10)), ("numbers-7", (1585, 12)), ("objects-7", (288, 18))]
)
def test_the_papers_games_have_its_sizes(name: str, table: tuple[int, int]):
    space, candidates = load_game(name)
    assert space.table.shape == table
    assert candidates == int(name[-1])
    check_candidates(space, candidates)

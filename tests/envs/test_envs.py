"""The game for PettingZoo and for JAX: both pass the tests of their kind, and both play as `rollout` does."""

import subprocess
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import implicature
from implicature.agents.perspectives import FeatureTable, perspectives
from implicature.agents.rollout import Rollout, boltzmann, categorical, rollout
from implicature.envs.episode import Episode
from implicature.envs.jax_env import environment
from implicature.games.rules import Rules
from implicature.games.splits import SPLITS, split_of
from implicature.spaces import Space, objects
from implicature.spaces.numbers import number_sets
from implicature.training.config import Config
from implicature.training.pairs import new_pragmatic_pair
from implicature.training.resolve import resolve

pettingzoo_test = pytest.importorskip("pettingzoo.test")

SPACE = number_sets(6, 3)
RULES = Rules(3, rounds=3, message_cost=0.1)
GIVEN: dict[str, Any] = {"space": SPACE, "candidates": 3, "rounds": 3, "message_cost": 0.1, "games": 300}
# Instances 0 … 5 are {0} … {5}; 6 is {0, 1}, 7 is {0, 2}. The student sees {0}, {0, 1}, {0, 2}.
SAMPLE = {"candidates": [6, 7, 0], "target": 1, "order": [2, 0, 1]}


def aec(**options: Any) -> Any:
    return implicature.env(**{**GIVEN, **options})


def parallel(**options: Any) -> Any:
    return implicature.parallel_env(**{**GIVEN, **options})


# What PettingZoo asks of an environment


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably:UserWarning")
@pytest.mark.filterwarnings("ignore:We recommend agents to be named:UserWarning")
@pytest.mark.filterwarnings("ignore:Agents have different observation space sizes:UserWarning")
@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("rounds", [1, 3])
def test_pettingzoos_own_tests_pass(rounds: int, capsys: pytest.CaptureFixture[str]):
    pettingzoo_test.api_test(aec(rounds=rounds), num_cycles=500)
    pettingzoo_test.parallel_api_test(parallel(rounds=rounds), num_cycles=500)
    pettingzoo_test.seed_test(lambda: aec(rounds=rounds), num_cycles=100)
    pettingzoo_test.parallel_seed_test(lambda: parallel(rounds=rounds), num_cycles=100)
    pettingzoo_test.render_test(lambda **options: aec(rounds=rounds, **options))


def test_every_observation_is_of_its_space_and_every_mask_of_its_actions():
    env = aec()
    for seed in range(20):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, over, _, info = env.last()
            assert env.observation_space(agent).contains(observation)
            assert len(info["action_mask"]) == env.action_space(agent).n
            env.step(None if over else env.action_space(agent).sample(info["action_mask"]))


def test_importing_the_package_imports_neither_jax_nor_pettingzoo():
    ask = "import sys, implicature; print({'jax', 'numpy', 'pettingzoo'} & set(sys.modules), hasattr(implicature, 'x'))"
    said = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    assert said == "set() False\n"


# By hand


def test_each_agent_sees_its_own_order_and_only_the_teacher_the_target():
    env = aec()
    env.reset(options=SAMPLE)
    teacher, student = env.observe("teacher"), env.observe("student")
    # {0, 1}, {0, 2}, {0}
    assert teacher["candidates"].tolist() == [[1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]]
    assert student["candidates"].tolist() == [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0]]
    assert teacher["target"] == 1
    assert "target" not in student
    assert (teacher["turn"], student["turn"]) == (1, 0)
    assert student["messages"].tolist() == [0, 0, 0]


def test_a_wait_and_a_right_answer_return_one_minus_two_costs():
    env = aec()
    env.reset(options=SAMPLE)
    env.step(0)
    assert env.agent_selection == "student"
    assert env.observe("student")["messages"].tolist() == [1, 0, 0]
    env.step(3)
    assert env.rewards == {"teacher": pytest.approx(-0.1), "student": pytest.approx(-0.1)}
    assert env.agent_selection == "teacher"
    env.step(2)
    assert env.observe("student")["messages"].tolist() == [1, 3, 0]
    # His third candidate is {0, 2}.
    env.step(2)
    assert env.rewards["teacher"] == pytest.approx(0.9)
    assert env.terminations == {"teacher": True, "student": True}
    for _ in range(2):
        _, reward, over, _, _ = env.last()
        assert over
        # Since one's own last action, as PettingZoo counts.
        assert reward == pytest.approx(0.9)
        env.step(None)
    assert env.agents == []


def test_who_waits_to_the_end_gives_no_answer():
    env = parallel()
    env.reset(options=SAMPLE)
    for _ in range(RULES.rounds):
        _, rewards, _, _, infos = env.step({"teacher": 0, "student": 0})
        assert rewards["student"] == 0
        last = infos["student"]["action_mask"].tolist()
        _, rewards, over, _, _ = env.step({"teacher": 0, "student": 3})
        assert rewards["student"] == pytest.approx(-0.1)
    assert over["student"]
    assert last == [1, 1, 1, 0]
    assert env.agents == []


def test_a_frame_shows_what_was_said_and_picked():
    env = aec(render_mode="ansi")
    env.reset(options=SAMPLE)
    assert env.render() == "  {0, 1}\n→ {0, 2}\n  {0}\nShe thinks of what to say."
    env.step(0)
    env.step(3)
    assert env.render().endswith("She says “0”; he waits.")
    env.step(2)
    assert env.render().endswith("She says “0”, then “2”; he listens.")
    env.step(1)
    assert env.render() == (
        "  {0, 1}  ←\n→ {0, 2}\n  {0}\nShe says “0”, then “2”; he picks {0, 1}: wrong. Return -0.20."
    )


def test_the_image_of_a_frame_marks_the_target_green_and_the_one_picked_blue():
    env = aec(render_mode="rgb_array")
    env.reset(options=SAMPLE)
    before = env.render()
    env.step(0)
    env.step(0)
    after = env.render()
    green, blue = (27, 120, 55), (33, 102, 172)
    for image, colour, expected in [
        (before, green, True),
        (before, blue, False),
        (after, green, True),
        (after, blue, True),
    ]:
        assert (image == colour).all(axis=2).any() == expected


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: aec(render_mode="film"), "render_mode 'film' is unknown"),
        (lambda: aec(observe="images"), "The space numbers-6 has no images"),
        (lambda: aec(candidates=None), "How many candidates of numbers-6 make a game?"),
        (lambda: aec(candidates=99), "99 candidates, but this space has only 41 instances"),
        (lambda: implicature.env("chess"), "No game is called 'chess'"),
        (lambda: aec().reset(options={"candidates": [1, 1, 2], "target": 0, "order": [0, 1, 2]}), "are no game"),
        (lambda: aec().reset(options={"candidates": [1, 2, 3]}), "are no game"),
        (lambda: aec().render(), "There is nothing to show yet"),
    ],
)
def test_a_mistake_is_a_sentence(mistake: Any, sentence: str):
    with pytest.raises(ValueError, match=sentence.replace("?", r"\?")):
        mistake()


@pytest.mark.parametrize("action", [6, -1, 0.5, None])
def test_an_action_that_there_is_not_is_refused(action: Any):
    env = aec()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"The teacher cannot do .*: choose a whole number from 0 to 5\."):
        env.step(action)


def test_each_agent_sees_images_of_its_candidates():
    space = objects()
    # Every image of instance i is filled with the colour i, 0 and its own number.
    images = np.zeros((space.instances, 3, 2, 2, 3), np.uint8)
    images[..., 0] = (np.arange(space.instances) % 256)[:, None, None, None]
    images[..., 2] = np.arange(3)[:, None, None]
    object.__setattr__(space, "images", images)
    env = implicature.env(space=space, candidates=3, observe="images", games=100, render_mode="rgb_array")
    views = set()
    for seed in range(10):
        env.reset(seed=seed, options={"candidates": [5, 6, 7], "target": 0, "order": [2, 0, 1]})
        teacher, student = env.observe("teacher")["candidates"], env.observe("student")["candidates"]
        assert teacher[:, 0, 0, 0].tolist() == [5, 6, 7]
        assert student[:, 0, 0, 0].tolist() == [7, 5, 6]
        views |= {tuple(teacher[:, 0, 0, 2].tolist()), tuple(student[:, 0, 0, 2].tolist())}
        assert env.observation_space("student").contains(env.observe("student"))
    assert len(views) > 5
    assert env.render().shape[2] == 3
    states = jax.jit(jax.vmap(environment(space, Rules(3), "train", "images", 100).reset))(
        jax.random.split(jax.random.key(0), 5)
    )
    assert states.views.shape == (5, 2, 3)


# One source of rules


@eqx.filter_jit
def rollouts(env: Any, pair: Any) -> tuple[Any, Rollout]:
    """200 dialogues of an untrained pair that samples messages and answers."""
    games = jax.tree.map(lambda leaf: leaf[:200], env.games)
    features, lexicon = env.observations[:, 0], env.observations[:, 0] > 0

    def one(key: Any, game: Any) -> Rollout:
        seen = perspectives(game, FeatureTable(features, features), lexicon)
        return rollout(key, pair.teacher, pair.student, seen, env.rules, boltzmann(1.0), categorical)

    return games, jax.vmap(one)(jax.random.split(jax.random.key(3), 200), games)


@pytest.mark.slow
def test_rollout_and_both_environments_agree_on_every_round():
    env = environment(SPACE, RULES, "train", "attributes", 300)
    pair = new_pragmatic_pair(jax.random.key(0), resolve(Config.of(width=4, layers=1), SPACE, 3), jnp.eye(6), 6)
    games, played = jax.device_get(rollouts(env, pair))
    assert 20 < (played.active.sum(axis=1) > 1).sum() < 200
    transition, zoo, ends = jax.jit(lambda state, action: env.transition(state, action)), aec(), set()
    for i in range(60):
        candidates, target, order = (leaf[i] for leaf in (games.candidates, games.target, games.order))
        state = env.begin(jax.random.key(0), jax.tree.map(lambda leaf, i=i: jnp.asarray(leaf[i]), games))
        zoo.reset(options={"candidates": candidates, "target": target, "order": order})
        for number in range(RULES.rounds):
            if not played.active[i, number]:
                break
            message, said = int(played.message[i, number]), int(played.action[i, number])
            action = said if said == RULES.wait else order.tolist().index(said)
            state, reward, over = transition(state, jnp.asarray(message))
            assert (float(reward), bool(over)) == (0, False)
            observation = env.observe_student(state)
            zoo.step(message)
            assert np.array_equal(observation.candidates, zoo.observe("student")["candidates"])
            assert np.array_equal(observation.messages + 1, zoo.observe("student")["messages"])
            state, reward, over = transition(state, jnp.asarray(action))
            zoo.step(action)
            assert np.isclose(float(reward), played.reward[i, number])
            assert np.isclose(zoo.rewards["student"], played.reward[i, number])
            continues = number + 1 < RULES.rounds and bool(played.active[i, number + 1])
            assert bool(over) == (not continues) == zoo.terminations["student"]
            ends.add((number, said == RULES.wait))
        assert np.isclose(zoo.episode.episode_return, np.sum(played.reward[i] * played.active[i]), atol=1e-6)
    # Games ended in each round, and went on after the first two.
    assert ends == {(0, False), (0, True), (1, False), (1, True), (2, False)}


# For JAX


def test_many_games_step_at_once_and_a_new_one_follows_the_end():
    env = implicature.jax_env(**GIVEN)
    number = 64

    @jax.jit
    def steps(key: Any) -> Any:
        def step(states: Any, key: Any) -> Any:
            action_key, step_key = jax.random.split(key)
            most = jnp.where(states.teacher_turn, 6, 4)
            actions = jax.random.randint(action_key, (number,), 0, most)
            after, reward, over = jax.vmap(env.step)(jax.random.split(step_key, number), states, actions)
            return after, (states, actions, reward, over, after)

        states = jax.vmap(env.reset)(jax.random.split(key, number))
        return jax.lax.scan(step, states, jax.random.split(key, 100))[1]

    states, actions, reward, over, after = jax.device_get(steps(jax.random.key(1)))
    assert over.any()
    assert not (over & states.teacher_turn).any()
    # After the end she is to speak in a game without a word; else the turn changes.
    assert after.teacher_turn[over].all()
    assert (after.messages[over] == -1).all()
    assert np.array_equal(after.teacher_turn[~over], ~states.teacher_turn[~over])
    # He was right where his action, in her order, is the target.
    student_turn = ~states.teacher_turn
    order, target = states.game.order[student_turn], states.game.target[student_turn]
    wait = actions[student_turn] == RULES.wait
    right = order[np.arange(len(order)), np.where(wait, 0, actions[student_turn])] == target
    assert np.allclose(reward[student_turn], (right & ~wait) - 0.1, atol=1e-6)
    assert np.array_equal(over[student_turn], ~wait | (states.round[student_turn] == RULES.rounds - 1))
    assert (reward[~student_turn] == 0).all()


@pytest.mark.parametrize("split", SPLITS)
def test_games_are_of_the_split_that_was_asked_for(split: Any):
    env = implicature.jax_env(**{**GIVEN, "split": split})
    of = np.asarray(jax.vmap(split_of, (0, None))(env.games.candidates, 0))
    assert (of == SPLITS.index(split)).all()


def test_a_space_of_ones_own_is_read_from_its_file(tmp_path: Any):
    (tmp_path / "things.csv").write_text("colour,shape\nred,cone\nred,ball\nblue,cone\nblue,ball\ngreen,cone\n")
    env = implicature.env(space=tmp_path / "things.csv", candidates=2, games=50)
    assert isinstance(env.episode, Episode)
    assert isinstance(env.episode.space, Space)
    assert env.action_space("teacher").n == 5
    assert env.action_space("student").n == 3

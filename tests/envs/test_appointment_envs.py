"""The appointment game for PettingZoo and for JAX: both pass the tests of their kind, and both play as `play_dialogue`
does. Calendars of three slots; messages are 0 "1", 1 "1-2", 2 "1-3", 3 "2", 4 "2-3", 5 "3"; answers are 6 to 8 (slots)
and 9 ("none")."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import implicature
from implicature.agents.appointment.player import ExactPlayer, LiteralPlayer
from implicature.evaluation.appointment import play_dialogue
from implicature.games.appointment import AppointmentRules, answer_name, run_name, runs, split_calendars

pettingzoo_test = pytest.importorskip("pettingzoo.test")

GIVEN: dict[str, Any] = {"slots": 3, "rounds": 2, "split": "all"}
SAMPLE = {"calendars": [[1, 1, 0], [0, 1, 0]]}  # slot 3 is free in both


def aec(**options: Any) -> Any:
    return implicature.env("appointment", **{**GIVEN, **options})


def parallel(**options: Any) -> Any:
    return implicature.parallel_env("appointment", **{**GIVEN, **options})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably:UserWarning")
@pytest.mark.filterwarnings("error::UserWarning")
def test_pettingzoos_own_tests_pass(capsys: pytest.CaptureFixture[str]):
    pettingzoo_test.api_test(aec(), num_cycles=300)
    pettingzoo_test.parallel_api_test(parallel(), num_cycles=300)
    pettingzoo_test.seed_test(aec, num_cycles=100)
    pettingzoo_test.parallel_seed_test(parallel, num_cycles=100)
    pettingzoo_test.render_test(aec)


def test_each_player_sees_the_own_calendar_and_what_was_said():
    env = aec()
    env.reset(options=SAMPLE)
    one, other = env.observe("player_0"), env.observe("player_1")
    assert one["calendar"].tolist() == [1, 1, 0]
    assert other["calendar"].tolist() == [0, 1, 0]
    assert (one["turn"], other["turn"]) == (1, 0)
    # True of ■■□ are "1", "1-2" and "2"; answers are always allowed.
    assert env.infos["player_0"]["action_mask"].tolist() == [1, 1, 0, 1, 0, 0, 1, 1, 1, 1]
    env.step(1)
    assert env.agent_selection == "player_1"
    assert env.observe("player_1")["messages"].tolist() == [2, 0]
    env.step(3)
    assert env.observe("player_0")["messages"].tolist() == [2, 4]
    # No message is left.
    assert env.infos["player_0"]["action_mask"].tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("actions", "episode_return"),
    [
        ([8], 1.0),  # slot 3
        ([6], -2.0),  # slot 1 is busy
        ([1, 8], 0.9),
        ([1, 3, 9], -1.2),  # two messages, then "none", but there is one
        ([5], -2.1),  # a message, and "3" is untrue
        ([1, 3, 1], -2.3),  # three messages, one too many
    ],
)
def test_rewards_by_hand_in_both_environments(actions: list[int], episode_return: float):
    zoo, env, total = aec(), implicature.jax_env("appointment", **GIVEN), 0.0
    zoo.reset(options=SAMPLE)
    state, over = env.begin(jnp.asarray(SAMPLE["calendars"], bool)), False
    for action in actions:
        assert not over
        mover = zoo.agent_selection
        allowed = np.asarray(env.allowed(state))
        assert np.array_equal(allowed, zoo.infos[mover]["action_mask"])
        state, reward, over = env.transition(state, jnp.asarray(action))
        zoo.step(action)
        total += float(reward)
        assert zoo.rewards == {player: pytest.approx(float(reward)) for player in ("player_0", "player_1")}
    assert over
    assert all(zoo.terminations.values())
    assert [total, zoo.episode.episode_return] == pytest.approx([episode_return] * 2)


def test_both_environments_play_the_dialogues_of_exact_and_literal_players():
    rules = AppointmentRules(slots=4, messages=2)
    names = [f'"{run_name(run)}"' for run in runs(4)] + [answer_name(answer, 4) for answer in range(5)]
    zoo, env, lengths = aec(slots=4), implicature.jax_env("appointment", **{**GIVEN, "slots": 4}), set()
    transition = jax.jit(lambda state, action: env.transition(state, action))
    for seed in range(12):
        player = LiteralPlayer() if seed % 2 else ExactPlayer(2)
        held = int(7 * seed % 15), int((11 * seed + 3) % 15)
        dialogue = play_dialogue(player, player, rules, seed, held)
        given = [[int(slot == "■") for slot in calendar] for calendar in dialogue.calendars]
        zoo.reset(options={"calendars": given})
        state, total = env.begin(jnp.asarray(given, bool)), 0.0
        for turn in dialogue.turns:
            action = names.index(turn.said)
            assert int(state.turn) == turn.player == zoo.possible_agents.index(zoo.agent_selection)
            state, reward, over = transition(state, jnp.asarray(action))
            zoo.step(action)
            total += float(reward)
        assert over
        assert total == pytest.approx(dialogue.reward)
        assert zoo.episode.episode_return == pytest.approx(dialogue.reward)
        lengths.add(len(dialogue.turns))
    assert lengths == {1, 2, 3}


def test_many_games_step_at_once_and_a_new_one_follows_the_end():
    env = implicature.jax_env("appointment", rounds=2)
    number, key = 32, jax.random.key(0)
    states = jax.vmap(env.reset)(jax.random.split(key, number))
    answer_none = jnp.full(number, env.actions - 1)
    after, reward, over = jax.jit(jax.vmap(env.step))(jax.random.split(jax.random.key(1), number), states, answer_none)
    assert over.all()
    common = ~(states.calendars[:, 0] | states.calendars[:, 1]).all(axis=1)
    assert np.array_equal(reward, np.where(common, -1.0, 1.0))
    assert (after.said == 0).all()
    assert not np.array_equal(after.calendars, states.calendars)
    seen = jax.vmap(env.observe, (0, None))(states, 1)
    assert np.array_equal(seen.calendar, states.calendars[:, 1])
    assert not seen.turn.any()


@pytest.mark.parametrize(("split", "part"), [("train", 0), ("test", 1)])
def test_calendars_are_of_the_split_that_was_asked_for(split: Any, part: int):
    env = implicature.jax_env("appointment", split=split, split_seed=3)
    numbers = np.asarray(env.calendars) @ 2 ** np.arange(8) - 1
    assert sorted(numbers.tolist()) == split_calendars(8, 3)[part].tolist()


def test_a_frame_shows_both_calendars_and_what_was_said():
    env = aec(render_mode="ansi")
    env.reset(options=SAMPLE)
    env.step(1)
    assert env.render() == "player_0 ■■□\nplayer_1 □■□\nplayer_0 says “1-2”"
    env.step(8)
    assert env.render().endswith("player_1 answers “slot 3”: right\nreturn 0.90")
    env.reset(options=SAMPLE)
    env.step(5)
    assert env.render().endswith("player_0 says “3”, against the rules\nreturn -2.10")


def test_the_image_of_a_frame_frames_the_answer():
    env = aec(render_mode="rgb_array")
    env.reset(options=SAMPLE)
    before = env.render()
    env.step(8)
    green = (27, 120, 55)
    assert not (before == green).all(axis=2).any()
    assert (env.render() == green).all(axis=2).any()


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: aec(candidates=4), "candidates has no effect in the appointment game"),
        (lambda: implicature.jax_env("appointment", observe="images"), "observe has no effect"),
        (lambda: aec(split="validation"), "no split 'validation': choose one of train, test, all"),
        (lambda: aec(rounds=0), "0 rounds: ask for 1 or more"),
        (lambda: aec(render_mode="film"), "render_mode 'film' is unknown"),
        (lambda: aec().reset(options={"calendars": [[1, 0, 0], [0, 0, 0]]}), "are no game: give two calendars"),
        (lambda: aec().reset(options={"calendars": "■□□"}), "are no game"),
    ],
)
def test_a_mistake_is_a_sentence(mistake: Any, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        mistake()


@pytest.mark.parametrize("action", [10, -1, 0.5, None])
def test_an_action_that_there_is_not_is_refused(action: Any):
    env = aec()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"player_0 cannot do .*: choose a whole number from 0 to 9\."):
        env.step(action)

"""Exact players in the field's conventions: hand-worked values, and values of other implementations.

Where a value comes from is said beside it. The three objects: a blue sphere, a red sphere, a blue cone.
"""

import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import implicature
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.agents.exact_spec import ExactSpec, parse_exact
from implicature.agents.perspectives import Perspectives
from implicature.agents.rollout import mishear, rollout
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.spaces import Lexicon

THREE = Context("blue,sphere", "red,sphere", "blue,cone")
TEXTBOOK = "exact:depth={},utility=log,alpha={},start=indicator"


def listen(context: Context, word: str, player: str) -> list[float]:
    return list(implicature.players(player)[1].listen(context, word).values())


def speak(context: Context, target: int, player: str) -> list[float]:
    return list(implicature.players(player)[0].speak(context, target).values())


def test_the_textbook_model_gives_60_to_40_where_ours_gives_57_to_43():
    # L_0(blue) = 1/2, 0, 1/2. S_1 at α = 1 is ∝ L_0: the sphere's words are worth 1/2 each: 1/2; the cone's 1/2 and 1:
    # 1/3. L_1 ∝ 1/2, 1/3: 0.6, 0.4 (problang chapter 1: the same objects and model).
    assert listen(THREE, "blue", TEXTBOOK.format(1, 1)) == pytest.approx([0.6, 0, 0.4])
    # Ours: S_1 ∝ exp(L_0): 1/2, and for the cone e^.5 / (e^.5 + e) = 0.37754. 0.5 / 0.87754 = 0.56977.
    assert listen(THREE, "blue", "exact:depth=1,beta=1") == pytest.approx([0.56977, 0, 0.43023], abs=1e-5)


@pytest.mark.parametrize("alpha", [1.0, 4.0])
def test_deeper_and_more_rational_players_are_those_of_the_formula(alpha: float):
    truth = np.asarray(THREE.lexicon, float)
    listener = truth / truth.sum(axis=0)
    for depth in range(4):
        found = [listen(THREE, word, TEXTBOOK.format(depth, alpha)) for word in THREE.words]
        np.testing.assert_allclose(np.transpose(found), listener, atol=1e-5)
        speaker = listener**alpha / (listener**alpha).sum(axis=1, keepdims=True)  # exp(α log L) = L^α
        said = [speak(THREE, target, TEXTBOOK.format(depth, alpha)) for target in range(3)]
        np.testing.assert_allclose(said, speaker, atol=1e-5)
        listener = speaker / speaker.sum(axis=0)


def test_frank_and_goodmans_listener_weighs_words_by_how_few_they_fit():
    # Frank and Goodman (2012), supplement: P(w | o) = |w|^-1 / Σ_w' true of o |w'|^-1, times salience. With words true
    # of 2 and 1 objects, salience 2 : 1 : 1 over three objects of which "blue" fits the first and the third.
    salience = np.array([2, 1, 1]) / 4
    sizes = np.asarray(THREE.lexicon, float).sum(axis=0)
    informative = np.asarray(THREE.lexicon) / sizes
    said = informative / informative.sum(axis=1, keepdims=True)
    expected = salience * said[:, 0] / (salience * said[:, 0]).sum()  # 2 · 1/2 : 1/3 = 0.75 : 0.25
    np.testing.assert_allclose(expected, [0.75, 0, 0.25])
    # Their speaker does not know the salience, which is a prior of the listener alone: L_1 with prior, S_1 without.
    informed = Context("blue,sphere", "red,sphere", "blue,cone", prior=[2, 1, 1])
    plain = np.array(speak(THREE, 0, TEXTBOOK.format(0, 1)))[0], np.array(speak(THREE, 2, TEXTBOOK.format(0, 1)))[0]
    weights = np.array([plain[0] * 2, plain[1] * 1])
    np.testing.assert_allclose(weights / weights.sum(), [0.75, 0.25], atol=1e-5)
    # Ours knows it: L_0(blue) = 2/3, 1/3, L_0(sphere) likewise. S_1(blue | 1) = 1/2, S_1(blue | 3) = 1/3 / (4/3) = 1/4.
    # L_1(blue) ∝ 2 · 1/2 : 1 · 1/4 = 0.8 : 0.2.
    assert listen(informed, "blue", TEXTBOOK.format(1, 1)) == pytest.approx([0.8, 0, 0.2], abs=1e-5)


def test_some_is_not_all():
    # problang's scalar implicature at α = 1, two states: L_0(some) = 1/2, 1/2; S_1(some | all) = (1/2) / (3/2) = 1/3,
    # S_1(some | some) = 1. L_1(some) = 3/4, 1/4.
    context = Context("some", "some,all", names=["some", "all"])
    assert listen(context, "some", TEXTBOOK.format(1, 1)) == pytest.approx([0.75, 0.25])


def test_a_cost_is_subtracted_inside_the_exponent():
    context = Context("blue,sphere", "red,sphere", "blue,cone", costs={"blue": 1.0})
    # S_1(· | sphere) ∝ exp(log 1/2 − 1) : exp(log 1/2) = 1/e : 1, so that "blue" has 1 / (1 + e) = 0.26894.
    assert speak(context, 0, TEXTBOOK.format(0, 1))[0] == pytest.approx(1 / (1 + math.e))
    # Utility belief, β = 2: exp(2 (1/2 − 1)) : exp(2 · 1/2) = 1/e : e.
    assert speak(context, 0, "exact:depth=0,beta=2")[0] == pytest.approx(1 / (1 + math.e**2))


def test_graded_meanings_are_degrees_of_truth():
    context = Context("a", "b", lexicon={"blue": [0.8, 0.2], "red": [0.2, 0.8]})
    assert listen(context, "blue", TEXTBOOK.format(0, 1)) == pytest.approx([0.8, 0.2])
    # S_1 ∝ L_0 at α = 1: 0.8 : 0.2 by rows, and L_1 the same; at α = 2, 0.64 : 0.04 → 16/17.
    assert listen(context, "blue", TEXTBOOK.format(1, 1)) == pytest.approx([0.8, 0.2])
    assert listen(context, "blue", TEXTBOOK.format(1, 2)) == pytest.approx([16 / 17, 1 / 17])


def test_both_reckon_with_a_noisy_channel():
    # Two candidates, a word each, ε = 0.1: L_0(o | own word) = 0.9. S_1 ∝ exp(α (0.9 log 0.9 + 0.1 log 0.1)) for the
    # only true word: certain, so that L_1 = 0.9 again.
    context = Context("a", "b")
    for depth in (0, 1):
        assert listen(context, "a", TEXTBOOK.format(depth, 1) + ",noise=0.1") == pytest.approx([0.9, 0.1])
    # Four words, the channel as a matrix: a word is heard as itself with 0.7, as each other one with 0.1.
    noise, truth = 0.3, np.asarray(THREE.lexicon, float)
    channel = np.full((4, 4), noise / 3)
    np.fill_diagonal(channel, 1 - noise)
    heard = truth @ channel
    found = [listen(THREE, word, TEXTBOOK.format(0, 1) + f",noise={noise}") for word in THREE.words]
    np.testing.assert_allclose(np.transpose(found), heard / heard.sum(axis=0), atol=1e-5)


def test_iterated_best_response_picks_the_best_word():
    assert listen(THREE, "blue", "exact:depth=1,beta=inf") == pytest.approx([1, 0, 0])
    assert speak(THREE, 2, "exact:depth=0,beta=inf") == pytest.approx([0, 0, 0, 1])
    assert speak(THREE, 0, "exact:depth=0,beta=inf") == pytest.approx([0.5, 0.5, 0, 0])


def test_a_mixture_of_depths_is_the_weighted_sum_of_players():
    name = "exact:depths=0.25/0.75,utility=log,alpha=1,start=indicator"
    # L_0 = 1/2, L_1 = 0.6: 0.25 · 0.5 + 0.75 · 0.6 = 0.575.
    assert listen(THREE, "blue", name) == pytest.approx([0.575, 0, 0.425])
    each = [speak(THREE, 2, TEXTBOOK.format(depth, 1)) for depth in (0, 1)]
    assert speak(THREE, 2, name) == pytest.approx(0.25 * np.array(each[0]) + 0.75 * np.array(each[1]), abs=1e-5)


def test_lexical_uncertainty_is_marginalised():
    # "x" is true of both or of the first alone, "y" of the second. S_1(x | first) = 1 in both lexica; S_1(x | second) =
    # 1/2 / (1/2 + 1) = 1/3 in the first lexicon and 0 in the other: L_1(x) ∝ 1 : 1/6 = 6/7 : 1/7.
    lexica = [{"x": [1, 1], "y": [0, 1]}, {"x": [1, 0], "y": [0, 1]}]
    context = Context("first", "second", lexica=lexica)
    assert listen(context, "x", TEXTBOOK.format(1, 1)) == pytest.approx([6 / 7, 1 / 7])
    # With 3 : 1 for the first lexicon: 1/3 · 3/4 = 1/4, so 4/5 : 1/5; L_0 hears the mean meaning 1 : 3/4.
    skewed = Context("first", "second", lexica=lexica, lexica_prior=[3, 1])
    assert listen(skewed, "x", TEXTBOOK.format(1, 1)) == pytest.approx([0.8, 0.2])
    assert listen(skewed, "x", TEXTBOOK.format(0, 1)) == pytest.approx([4 / 7, 3 / 7])


def test_a_question_is_answered_by_any_candidate_of_the_right_cell():
    # Which colour? The two blue ones are one cell. Literal L_0(sphere) = 1/2, 1/2: for the blue sphere "blue" is worth
    # log 1 = 0, "sphere" log 1/2: S_1 = 2/3, 1/3.
    context = Context("blue,sphere", "red,sphere", "blue,cone", qud=["blue", "red", "blue"])
    assert speak(context, 0, TEXTBOOK.format(0, 1)) == pytest.approx([2 / 3, 1 / 3, 0, 0])
    model, rules = ExactModel(1), Rules(3)
    game = Perspectives(context.unnamed(), context.unnamed(), jnp.asarray(0), jnp.arange(3))
    forced = jnp.array([THREE.words.index("cone")])
    played = rollout(jax.random.key(0), ExactTeacher(model), ExactStudent(model), game, rules, forced_messages=forced)
    assert played.action.tolist() == [2]  # the blue cone, not the target itself
    assert played.success == 1
    assert played.reward.tolist() == [1]


def test_the_student_answers_by_cells_rather_than_by_the_likeliest_candidate():
    # Belief 0.4, 0.3, 0.3 with cells {0} and {1, 2}: the second cell is likelier.
    context = Context("a", "b", "c", lexicon={"w": [1, 1, 1]}, prior=[4, 3, 3], qud=[0, 1, 1])
    student, rules = ExactStudent(ExactModel(0)), Rules(3)
    state = student.update(context, student.init_state(context, rules), jnp.asarray(0))
    np.testing.assert_allclose(student.policy(state, jnp.asarray(True)), [0.4, 0.6, 0, 0], atol=1e-6)


def test_words_cost_what_they_cost_in_the_reward():
    context = Context("a", "b", costs={"a": 0.25}).unnamed()
    game = Perspectives(context, context, jnp.asarray(0), jnp.arange(2))
    model = ExactModel(1)
    played = rollout(jax.random.key(0), ExactTeacher(model), ExactStudent(model), game, Rules(2, message_cost=0.1))
    assert played.episode_return == pytest.approx(1 - 0.25 - 0.1)
    assert played.success == 1


def test_a_tenth_of_all_words_is_misheard():
    message = jnp.zeros(20_000, jnp.int32) + 1
    heard = np.asarray(mishear(jax.random.key(0), message, 3, 0.1))
    shares = np.bincount(heard, minlength=3) / len(heard)
    np.testing.assert_allclose(shares, [0.05, 0.9, 0.05], atol=0.007)  # std 0.0021


def test_utterances_of_two_words_mean_their_conjunction_and_cost_their_length():
    context = Context("blue,sphere", "red,sphere", "blue,cone", max_words=2, length_cost=0.5)
    assert len(context.words) == 4 + 6
    assert context.word("blue sphere") == 4
    assert np.asarray(context.lexicon)[:, 4].tolist() == [True, False, False]
    assert context.costs is not None
    assert context.costs.tolist() == [0, 0, 0, 0, *[0.5] * 6]
    # For the blue sphere: "blue" and "sphere" have L_0 = 1/2, "blue sphere" 1 · exp(−1/2): 0.5 : 0.5 : 0.6065.
    said = speak(context, 0, TEXTBOOK.format(0, 1))
    assert said[4] == pytest.approx(math.exp(-0.5) / (1 + math.exp(-0.5)))
    either = Context("a", "b", max_words=2, combine=lambda meanings: meanings.max(axis=1))
    assert np.asarray(either.lexicon)[:, 2].tolist() == [True, True]  # "a or b"
    with pytest.raises(ValueError, match="Utterances of up to 3 of 2 words: ask for 1 to 2"):
        Context("a", "b", max_words=3)


GRADED = np.array([[0.9, 0.6, 0.1, 0.05], [0.1, 0.8, 0.95, 0.05], [0.7, 0.1, 0.1, 0.9]])
PRIOR, COSTS = [0.7, 0.2, 0.1], [0.5, 0, 0, 0.25]
MEMO = [
    (TEXTBOOK.format(1, 1), {}, [[0.6, 0, 0.4], [0.6, 0.4, 0], [0, 1, 0], [0, 0, 1]]),
    (TEXTBOOK.format(2, 4), {}, [[0.999755, 0, 0.000245], [0.999755, 0.000245, 0], [0, 1, 0], [0, 0, 1]]),
    (TEXTBOOK.format(1, 2), {"prior": PRIOR}, [[0.996081, 0, 0.003919], [0.970438, 0.029562, 0], [0, 1, 0], [0, 0, 1]]),
    (TEXTBOOK.format(2, 2), {"costs": COSTS}, [[0.775107, 0, 0.224893], [0.946997, 0.053003, 0], [0, 1, 0], [0, 0, 1]]),
    (TEXTBOOK.format(2, 3), {"graded": True}, [[0.998223, 0, 0.001777], [0.768981, 0.231019, 0], [0, 1, 0], [0, 0, 1]]),
    (
        TEXTBOOK.format(3, 2),
        {"graded": True, "prior": PRIOR, "costs": COSTS},
        [[1, 0, 0], [0.999996, 0.000004, 0], [0.037552, 0.962448, 0], [0.070634, 0, 0.929366]],
    ),
    ("exact:depth=1,beta=1", {}, [[0.569774, 0, 0.430226], [0.569774, 0.430226, 0], [0, 1, 0], [0, 0, 1]]),
    ("exact:depth=3,beta=10", {}, [[0.999909, 0, 0.000091], [0.999909, 0.000091, 0], [0, 1, 0], [0, 0, 1]]),
]
"""L_t of every word as memo computes it (a source checkout of version 1.2.21; Python 3.12, JAX 0.12), to six digits,
over the three objects, or over GRADED meanings of the same words."""


@pytest.mark.parametrize(("player", "options", "expected"), MEMO)
def test_beliefs_are_those_that_memo_computes(player: str, options: dict, expected: list[list[float]]):
    words: tuple[str, ...] = ("blue", "sphere", "red", "cone")
    lexicon = Lexicon(words, GRADED) if options.get("graded") else None
    rest = {name: value for name, value in options.items() if name != "graded"}
    context = Context("blue,sphere", "red,sphere", "blue,cone", lexicon=lexicon, **rest)
    assert context.words == words
    found = [listen(context, word, player) for word in words]
    np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("exact", ExactSpec(3)),
        ("literal", ExactSpec(0)),
        ("exact:depth=1,utility=log,alpha=4", ExactSpec(1, "log", 4.0)),
        ("exact:beta=inf,start=indicator,noise=0.1", ExactSpec(3, "belief", math.inf, "indicator", 0.1)),
        ("exact:depths=1/3", ExactSpec(3, depth_weights=(0.25, 0.75))),
    ],
)
def test_one_small_syntax_names_them_all(name: str, spec: ExactSpec):
    assert parse_exact(name) == spec


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("exact:", "is not understood: after exact: stand depth, depths"),
        ("exact:dept=1", "is not understood"),
        ("exact:depth=1,depth=2", "is not understood"),
        ("exact:depth", "is not understood"),
        ("exact:depth=x", "has depth 'x': give a whole number."),
        ("exact:depth=1.5", "has depth '1.5': give a whole number."),
        ("exact:depth=inf", "has depth 'inf': give a whole number."),
        ("exact:depth=101", "The depth 101 is not between 0 (literal) and 100"),
        ("exact:utility=linear", "The utility 'linear' is not one of belief, log."),
        ("exact:start=x", "The start 'x' is not one of share, indicator."),
        ("exact:alpha=1", "α belongs to the utility log"),
        ("exact:utility=log,beta=1", "β belongs to the utility belief"),
        ("exact:beta=-1", "β = -1 is not between 0"),
        ("exact:noise=1", "A channel noise of 1 is not in [0, 1)"),
        ("exact:depth=1,depths=1/2", "has both depth and depths"),
        ("exact:depths=0/0", "has no mixture of depths"),
    ],
)
def test_what_is_no_player_is_refused_in_one_sentence(name: str, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        implicature.players(name)

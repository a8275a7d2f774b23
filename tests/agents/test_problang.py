"""Pragmatic listeners of exact players beside those of problang's models in WebPPL.

The values are what WebPPL 0.9.15 prints of problang.wppl, which says how to run it: utterances × worlds, to six digits.
"""

import numpy as np
import pytest

import implicature

WORDS = ("blue", "green", "square", "circle")
REFERENCE = {"blue": [1, 1, 0], "green": [0, 0, 1], "square": [1, 0, 1], "circle": [0, 1, 0]}
GRADED = {"blue": [0.9, 0.8, 0.1], "green": [0.1, 0.2, 0.9], "square": [0.9, 0.3, 0.7], "circle": [0.1, 0.7, 0.3]}
NARROW = {**REFERENCE, "blue": [1, 0, 0]}
SCALAR = {"all": [0, 0, 0, 1], "some": [0, 1, 1, 1], "none": [1, 0, 0, 0]}
"""How many of three: 0, 1, 2, 3."""

WEBPPL = {
    "reference": (1, {}, [[0.6, 0.4, 0], [0, 0, 1], [0.6, 0, 0.4], [0, 1, 0]]),
    "reference, alpha 4": (4, {}, [[0.894737, 0.105263, 0], [0, 0, 1], [0.894737, 0, 0.105263], [0, 1, 0]]),
    "prior": (2, {"prior": [5, 3, 2]}, [[0.85427, 0.14573, 0], [0, 0, 1], [0.949395, 0, 0.050605], [0, 1, 0]]),
    "costs": (
        2,
        {"costs": {"blue": 0.5, "circle": 0.25}},
        [[0.671331, 0.328669, 0], [0, 0, 1], [0.785191, 0, 0.214809], [0, 1, 0]],
    ),
    "graded": (
        3,
        {"lexicon": GRADED},
        [
            [0.68396, 0.315597, 0.000443],
            [0.002852, 0.014988, 0.982161],
            [0.802161, 0.019519, 0.17832],
            [0.004182, 0.942466, 0.053351],
        ],
    ),
    "question": (2, {"qud": [0, 0, 1]}, [[0.615385, 0.384615, 0], [0, 0, 1], [0.5, 0, 0.5], [0, 1, 0]]),
    "lexica": (
        1,
        {"lexica": [REFERENCE, NARROW], "lexica_prior": [3, 1]},
        [[0.684211, 0.315789, 0], [0, 0, 1], [0.578947, 0, 0.421053], [0, 1, 0]],
    ),
    "noise": (
        2,
        {"noise": 0.1},
        [
            [0.613066, 0.343143, 0.04379],
            [0.045118, 0.045118, 0.909763],
            [0.613066, 0.04379, 0.343143],
            [0.045118, 0.909763, 0.045118],
        ],
    ),
    "scalar": (1, {"lexicon": SCALAR}, [[0, 0, 0, 1], [0, 0.444444, 0.444444, 0.111111], [1, 0, 0, 0]]),
    "scalar, alpha 4": (4, {"lexicon": SCALAR}, [[0, 0, 0, 1], [0, 0.49697, 0.49697, 0.006061], [1, 0, 0, 0]]),
}


@pytest.mark.parametrize("name", WEBPPL)
def test_pragmatic_listeners_are_those_of_problang(name: str):
    alpha, options, expected = WEBPPL[name]
    rest = {key: value for key, value in options.items() if key != "noise"}
    lexicon = {} if "lexica" in rest else {"lexicon": rest.pop("lexicon", REFERENCE)}
    worlds = [f"world {i}" for i in range(len(expected[0]))]
    context = implicature.Context(*worlds, **lexicon, **rest)
    player = f"exact:depth=1,utility=log,alpha={alpha},start=indicator,noise={options.get('noise', 0)}"
    _, student = implicature.players(player)
    found = [list(student.listen(context, word).values()) for word in context.words]
    np.testing.assert_allclose(found, expected, atol=2e-6)

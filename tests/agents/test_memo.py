"""Beliefs of exact players beside those that memo computes, where memo-lang is installed (Python 3.12 or later).
memo's syntax is that of Python 3.12, so the model is text here."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import jax.numpy as jnp
import numpy as np
import pytest

import implicature
from implicature.spaces import Lexicon

pytest.importorskip("memo", reason="memo-lang is not installed")

MODEL = """
import jax
from jax.numpy import exp
from memo import memo

OBJECTS, WORDS = range(3), range(4)
meaning = jax.jit(lambda table, word, thing: table[thing, word])
weight = jax.jit(lambda prior, thing: prior[thing])
cost = jax.jit(lambda costs, word: costs[word])

@memo
def literal[word: WORDS, thing: OBJECTS](table: ..., prior: ...):
    listener: knows(word)
    listener: chooses(thing in OBJECTS, wpp=weight(prior, thing) * meaning(table, word, thing))
    return Pr[listener.thing == thing]

@memo
def pragmatic[word: WORDS, thing: OBJECTS](table: ..., prior: ..., costs: ..., alpha, depth):
    listener: thinks[
        speaker: given(thing in OBJECTS, wpp=weight(prior, thing)),
        speaker: chooses(word in WORDS, wpp=(meaning(table, word, thing) > 0) * exp(-alpha * cost(costs, word)) * (
            literal[word, thing](table, prior) if depth == 1
            else pragmatic[word, thing](table, prior, costs, alpha, depth - 1)) ** alpha)
    ]
    listener: observes [speaker.word] is word
    listener: chooses(thing in OBJECTS, wpp=E[speaker.thing == thing])
    return Pr[listener.thing == thing]
"""
TRUTH = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
GRADED = np.array([[0.9, 0.6, 0.1, 0.05], [0.1, 0.8, 0.95, 0.05], [0.7, 0.1, 0.1, 0.9]])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """memo reads the source of a function, so the model is a file."""
    path: Path = tmp_path_factory.mktemp("memo") / "three_objects.py"
    path.write_text(MODEL)
    spec = importlib.util.spec_from_file_location("three_objects", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["three_objects"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("table", [TRUTH, GRADED], ids=["Boolean", "graded"])
@pytest.mark.parametrize(("alpha", "depth"), [(1.0, 1), (4.0, 2), (2.0, 3)])
@pytest.mark.parametrize("skewed", [False, True])
def test_beliefs_are_those_of_memo(model: ModuleType, table: np.ndarray, alpha: float, depth: int, skewed: bool):
    prior, costs = ([0.7, 0.2, 0.1], [0.5, 0.0, 0.0, 0.25]) if skewed else ([1 / 3] * 3, [0.0] * 4)
    expected = model.pragmatic(jnp.asarray(table), jnp.asarray(prior), jnp.asarray(costs), alpha, depth)
    words = ("blue", "sphere", "red", "cone")
    context = implicature.Context(
        "first",
        "second",
        "third",
        lexicon=Lexicon(words, table),
        prior=prior,
        costs=dict(zip(words, costs, strict=True)),
    )
    _, student = implicature.players(f"exact:depth={depth},utility=log,alpha={alpha},start=indicator")
    found = [list(student.listen(context, word).values()) for word in words]
    np.testing.assert_allclose(found, expected, atol=1e-5)

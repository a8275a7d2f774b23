"""Pairs that see images: encoders learn before phase 1; frozen ones then stay, finetuned ones go on; attributes reach
no encoder of an ungrounded pair."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize
from implicature.nn.image_encoder import ImageEncoder
from implicature.training.config import Config
from implicature.training.methods import plan
from implicature.training.optimiser import init_learner, repeat_step
from implicature.training.pairs import NEW_PAIR
from implicature.training.pretraining import contrastive_step
from implicature.training.runs.run import Run, start_run
from implicature.training.stages import init_state, merge
from implicature.training.task import make_task


def small_config(squares: Path) -> Config:
    return Config.of(
        space=str(squares), candidates=3, train_games=1_000, candidate_sets=64, width=8, layers=2, phases=1,
        iterations=250, pretraining_iterations=250, learning_rate=1e-2,
    )  # fmt: skip


def train(folder: Path, config: Config) -> Run:
    run = start_run(folder, config)
    for _ in run.train():
        pass
    return run


@pytest.fixture(scope="module")
def grounded(squares: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(tmp_path_factory.mktemp("runs") / "grounded", small_config(squares))


@pytest.mark.slow
def test_a_grounded_pair_learns_what_words_mean_from_images(grounded: Run):
    games = held_out_games(grounded.task, 300, seed=0)
    before, after = (summarize(play_pair(grounded.pair(phase), grounded.task, games)) for phase in (0, 1))
    assert before["valid"] > 0.95
    assert after["accuracy"] > 0.9
    assert after["valid"] > 0.95


@pytest.mark.slow
def test_frozen_encoders_stay_as_they_were_before_phase_1(grounded: Run):
    before, after = grounded.pair(0), grounded.pair(1)
    assert grounded.config.encoder.encoder == "frozen"
    assert isinstance(before.teacher_encoder, ImageEncoder)
    assert eqx.tree_equal(before.teacher_encoder, after.teacher_encoder)
    assert eqx.tree_equal(before.student_encoder, after.student_encoder)
    assert not eqx.tree_equal(before.student, after.student)
    assert not eqx.tree_equal(after.teacher_encoder, after.student_encoder)


@pytest.mark.slow
def test_finetuned_encoders_go_on_learning_from_the_game(squares: Path, tmp_path: Path):
    short = small_config(squares).replace(encoder="finetuned", iterations=3, pretraining_iterations=3, candidate_sets=4)
    run = train(tmp_path / "run", short)
    before, after = run.pair(0), run.pair(1)
    assert not eqx.tree_equal(before.teacher_encoder, after.teacher_encoder)
    assert not eqx.tree_equal(before.student_encoder, after.student_encoder)


@pytest.mark.slow
@pytest.mark.parametrize("method", NEW_PAIR)
@pytest.mark.parametrize("encoder", ["frozen", "finetuned"])
def test_only_finetuned_encoders_are_among_the_weights_that_a_phase_trains(squares: Path, method: str, encoder: str):
    config = small_config(squares).replace(method=method, encoder=encoder)
    task = make_task(config)
    pair = NEW_PAIR[method](jax.random.key(1), task.config, task.data.observations, task.data.lexicon.shape[1])
    for stage in plan(task.config):
        state = init_state(stage, pair, task.config, task.rules)
        encoders = [leaf for leaf in jax.tree.leaves(state, is_leaf=is_encoder) if is_encoder(leaf)]
        expected = 0 if encoder == "frozen" and stage.phase > 0 else 2 if stage.agent == "both" else 1
        assert len(encoders) == expected
        # What is not trained stays in the pair.
        assert eqx.tree_equal(merge(stage, pair, state), pair)


def is_encoder(node: object) -> bool:
    return isinstance(node, ImageEncoder)


@pytest.mark.slow
def test_no_attribute_reaches_the_encoder_of_an_ungrounded_pair(squares: Path):
    task = make_task(small_config(squares).replace(grounded=False, pretraining_iterations=3))
    config, data = task.config, task.data
    pair = NEW_PAIR["pragmatic"](jax.random.key(1), config, data.observations, data.lexicon.shape[1])

    def encoder_after(lexicon: jax.Array) -> ImageEncoder:
        labelled = eqx.tree_at(lambda data: data.lexicon, data, lexicon)
        state = init_learner((pair.student, pair.student_encoder), config.optimiser, 3)
        step = contrastive_step(config, labelled)
        state, metrics = repeat_step(step, jax.random.key(2), state, jnp.asarray(0), 3)
        assert float(metrics["contrastive_loss"]) > 0
        return state.model[1]

    learned = encoder_after(data.lexicon)
    assert eqx.tree_equal(learned, encoder_after(~data.lexicon))
    assert not eqx.tree_equal(learned, pair.student_encoder)


@pytest.mark.slow
def test_a_game_shows_a_random_view_of_each_instance(grounded: Run):
    data = grounded.task.data
    assert data.views_per_instance == 2
    observations = data.sample(jax.random.key(3), 50, all_targets=False).candidates
    again = data.sample(jax.random.key(3), 50, all_targets=False).candidates
    assert (observations == again).all()
    assert set(np.unique(observations % 2)) == {0, 1}
    assert int(observations.max()) < 48


def test_without_an_encoder_agents_read_attributes_and_an_encoder_needs_images(squares: Path):
    assert make_task(small_config(squares).replace(encoder="none")).data.observations.shape == (24, 9)
    with pytest.raises(ValueError, match="has no images: leave out --encoder, or give it some"):
        make_task(Config.of(encoder="frozen", train_games=100))


@pytest.mark.slow
@pytest.mark.parametrize("is_grounded", [False, True])
def test_other_labels_on_the_same_images_change_the_encoders_of_a_grounded_pair_and_no_others(
    squares: Path, draw_squares, tmp_path: Path, is_grounded: bool
):
    # Instance k gets the attributes of 7 k + 1 modulo 24: of each once, and of none its own, as 6 k + 1 is odd.
    other = draw_squares(tmp_path / "mislabelled")
    head, *lines = (other / "squares.csv").read_text().splitlines()
    labels, files = zip(*(line.rsplit(",", 1) for line in lines), strict=True)
    moved = [f"{labels[(7 * (i // 2) + 1) % 24 * 2]},{file}" for i, file in enumerate(files)]
    (other / "squares.csv").write_text("\n".join([head, *moved]))
    short = small_config(squares).replace(grounded=is_grounded, pretraining_iterations=5, phases=0)
    config = make_task(short).config

    def features_after_pretraining(folder: Path) -> list[np.ndarray]:
        """Of both agents, from the file."""
        task = make_task(short.replace(space=str(folder)))
        run = Run(tmp_path / f"run-{folder.name}", replace(task, config=config))  # compiled once for both
        run.folder.mkdir()
        for _ in run.train():
            pass
        features = run.pair(0).encode_all(run.task.data.observations)
        return [np.asarray(features.teacher), np.asarray(features.student)]

    right, wrong = features_after_pretraining(squares), features_after_pretraining(other)
    same = [np.array_equal(one, another) for one, another in zip(right, wrong, strict=True)]
    assert same == [not is_grounded] * 2

"""Eyes: where they look, what they see, and that every distinct picture is looked at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.nn.image_encoder import FEATURES, Eyes, gaze, looked_at, patches, seen

EYES = Eyes(64, jax.random.key(0))


def picture(row: int, column: int, size: int = 8, colour: tuple[int, int, int] = (250, 30, 30)) -> np.ndarray:
    """A square on a grey ground, its upper left corner at (row, column)."""
    drawn = np.full((64, 64, 3), 128, np.uint8)
    drawn[row : row + size, column : column + size] = colour
    return drawn


PICTURES = jnp.asarray(np.stack([picture(8, 8), picture(40, 8), picture(8, 40), picture(40, 40, colour=(30, 30, 250))]))


def test_patches_are_squares_of_pixels_read_row_by_row():
    # 0  1 | 2  3
    # 4  5 | 6  7     the upper right square is 2 3 6 7
    # ...
    cut = patches(jnp.arange(16.0).reshape(4, 4, 1), 2)
    assert cut.shape == (2, 2, 4)
    assert cut[0, 1].tolist() == [2, 3, 6, 7]


def test_the_gaze_falls_on_what_differs_from_the_border():
    dark = jnp.full((32, 32, 3), -1.0)
    # The middle of pixel i of 32 is at (2 i + 1) / 32 - 1.
    assert gaze(dark.at[4, 27].set(1.0)) == pytest.approx([9 / 32 - 1, 55 / 32 - 1], abs=1e-3)
    assert gaze(dark) == pytest.approx([0, 0], abs=1e-6)


def test_what_stands_out_is_seen_alike_wherever_it_is():
    # The fine part, 9 places of 64 channels, is the same; the coarse part and the gaze tell the places apart.
    first, second = (EYES.look(PICTURES[i], jnp.zeros(2, int)) for i in (0, 1))
    assert np.allclose(first[: 9 * 64], second[: 9 * 64], atol=1e-5)
    assert not np.allclose(first[9 * 64 :], second[9 * 64 :], atol=0.1)


def test_features_are_as_long_as_four_attributes():
    features = EYES(PICTURES)
    assert features.shape == (4, FEATURES)
    assert np.allclose(np.linalg.norm(features, axis=1), 2, atol=1e-3)


def test_a_wavering_gaze_sees_something_else():
    moved = EYES(PICTURES, jnp.full((4, 2), 3))
    assert not np.allclose(moved, EYES(PICTURES), atol=1e-3)


def test_without_eyes_what_is_known_is_the_look_itself():
    looks = jnp.eye(3)
    assert seen(None, looks) is looks
    assert looked_at(None, looks, looks, jnp.array([1])) is looks


def test_open_eyes_see_what_is_needed_anew_and_leave_the_rest_as_it_was():
    known = jnp.zeros((4, FEATURES))
    found = looked_at(EYES, PICTURES, known, jnp.array([[3, 1], [1, 1]]))
    everything = seen(EYES, PICTURES)
    assert np.allclose(found[jnp.array([1, 3])], everything[jnp.array([1, 3])], atol=1e-5)
    assert not found[jnp.array([0, 2])].any()


def test_a_gradient_reaches_eyes_through_what_they_look_at():
    def loss(eyes: Eyes) -> jax.Array:
        return looked_at(eyes, PICTURES, jnp.zeros((4, FEATURES)), jnp.array([2]))[2, 0]

    assert any(jnp.abs(leaf).max() > 0 for leaf in jax.tree.leaves(jax.grad(loss)(EYES)))

"""The image encoder: where it crops, what it computes, and that every distinct image is encoded once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.nn.image_encoder import (
    FEATURES,
    ImageEncoder,
    crop_centre,
    encode_all,
    encode_batch,
    feature_size,
    new_image_encoder,
    patches,
)

ENCODER = ImageEncoder(64, jax.random.key(0))


def image(row: int, column: int, size: int = 8, colour: tuple[int, int, int] = (250, 30, 30)) -> np.ndarray:
    """A square on a grey ground, its upper left corner at (row, column)."""
    pixels = np.full((64, 64, 3), 128, np.uint8)
    pixels[row : row + size, column : column + size] = colour
    return pixels


IMAGES = jnp.asarray(np.stack([image(8, 8), image(40, 8), image(8, 40), image(40, 40, colour=(30, 30, 250))]))


def test_patches_are_squares_of_pixels_read_row_by_row():
    # 0  1 | 2  3
    # 4  5 | 6  7     the upper right square is 2 3 6 7
    # ...
    cut = patches(jnp.arange(16.0).reshape(4, 4, 1), 2)
    assert cut.shape == (2, 2, 4)
    assert cut[0, 1].tolist() == [2, 3, 6, 7]


def test_the_crop_is_centred_on_what_differs_from_the_border():
    dark = jnp.full((32, 32, 3), -1.0)
    # The middle of pixel i of 32 is at (2 i + 1) / 32 - 1.
    assert crop_centre(dark.at[4, 27].set(1.0)) == pytest.approx([9 / 32 - 1, 55 / 32 - 1], abs=1e-3)
    assert crop_centre(dark) == pytest.approx([0, 0], abs=1e-6)


def test_the_fine_features_do_not_depend_on_where_the_object_is():
    # The fine part, 9 patches of 64 channels, is the same; the coarse part and the centre tell the places apart.
    first, second = (ENCODER.patch_features(IMAGES[i], jnp.zeros(2, int)) for i in (0, 1))
    assert np.allclose(first[: 9 * 64], second[: 9 * 64], atol=1e-5)
    assert not np.allclose(first[9 * 64 :], second[9 * 64 :], atol=0.1)


def test_features_have_the_norm_of_four_attributes():
    features = ENCODER(IMAGES)
    assert features.shape == (4, FEATURES)
    assert np.allclose(np.linalg.norm(features, axis=1), 2, atol=1e-3)


def test_a_jittered_crop_has_other_features():
    jittered = ENCODER(IMAGES, jnp.full((4, 2), 3))
    assert not np.allclose(jittered, ENCODER(IMAGES), atol=1e-3)


@pytest.mark.parametrize("side", [64, 128])
def test_an_encoder_knows_the_size_of_its_images(side: int):
    encoder = new_image_encoder(jax.random.key(0), jnp.zeros((2, side, side, 3), jnp.uint8))
    assert encoder is not None
    assert encoder.side == side


def test_without_images_the_attributes_are_the_features():
    attributes = jnp.eye(3)
    assert new_image_encoder(jax.random.key(0), attributes) is None
    assert feature_size(attributes) == 3
    assert encode_all(None, attributes) is attributes
    assert encode_batch(None, attributes, attributes, jnp.array([1])) is attributes


@pytest.mark.slow
def test_a_batch_encodes_the_images_it_needs_and_leaves_the_rest_as_it_was():
    known = jnp.zeros((4, FEATURES))
    features = encode_batch(ENCODER, IMAGES, known, jnp.array([[3, 1], [1, 1]]))
    everything = encode_all(ENCODER, IMAGES)
    assert np.allclose(features[jnp.array([1, 3])], everything[jnp.array([1, 3])], atol=1e-5)
    assert not features[jnp.array([0, 2])].any()


@pytest.mark.slow
def test_a_gradient_reaches_the_encoder_through_the_images_of_a_batch():
    def loss(encoder: ImageEncoder) -> jax.Array:
        return encode_batch(encoder, IMAGES, jnp.zeros((4, FEATURES)), jnp.array([2]))[2, 0]

    assert any(jnp.abs(leaf).max() > 0 for leaf in jax.tree.leaves(jax.grad(loss)(ENCODER)))

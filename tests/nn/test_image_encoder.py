"""The image encoder: where it crops, what it computes, and that every distinct image is encoded once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.nn.image_encoder import (
    CONV_FEATURES,
    FEATURES,
    ConvEncoder,
    ImageEncoder,
    PatchEncoder,
    convolve,
    crop_centre,
    encode_all,
    encode_batch,
    feature_size,
    max_pool,
    new_image_encoder,
    patches,
)

ENCODER = PatchEncoder(64, jax.random.key(0))


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


@pytest.mark.parametrize(("height", "width", "size"), [(6, 9, 5), (7, 8, 7), (3, 3, 1)])
def test_a_convolution_is_jaxs(height: int, width: int, size: int):
    keys = jax.random.split(jax.random.key(0))
    x, weights = jax.random.normal(keys[0], (2, height, width, 3)), jax.random.normal(keys[1], (size, size, 3, 4))
    numbers = ("NHWC", "HWIO", "NHWC")
    expected = jax.lax.conv_general_dilated(x, weights, (2, 2), "SAME", dimension_numbers=numbers)
    assert np.allclose(convolve(x, weights), expected, atol=1e-4)


def test_the_largest_of_every_2_by_2_pixels_is_kept():
    #  0  1 |  2  3
    #  4  5 |  6  7
    #  8  9 | 10 11
    # 12 13 | 14 15
    assert max_pool(jnp.arange(16.0).reshape(1, 4, 4, 1))[0, ..., 0].tolist() == [[5, 7], [13, 15]]


def test_the_convolutional_network_has_the_papers_layers_and_features_of_the_same_norm():
    encoder = ConvEncoder(64, jax.random.key(0))
    # 7 × 7, 7 × 7 and 5 × 5; stride 2 three times and two poolings leave 64 / 32 = 2 pixels a side.
    assert [weights.shape[:2] for weights in encoder.filters] == [(7, 7), (7, 7), (5, 5)]
    assert encoder.hidden.weight.shape == (2 * 2 * encoder.filters[-1].shape[-1], CONV_FEATURES)
    features = encoder(IMAGES)
    assert features.shape == (4, CONV_FEATURES)
    assert np.allclose(np.linalg.norm(features, axis=1), 2, atol=1e-3)
    # Images are told apart, and a shifted image from itself.
    assert np.abs(features[0] - features[3]).max() > 1e-3
    assert np.abs(encoder(IMAGES, jnp.full((4, 2), 3)) - features).max() > 1e-3

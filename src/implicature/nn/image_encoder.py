"""Image encoders: pixels to the features of a candidate (appendix B's perceptual module).

`PatchEncoder`, the default:

    centre   = mean position of what differs from the image's border
    fine     = the square crop of 3/8 of the side around the centre;   coarse = the whole image at 32 × 32
    x        ← leaky_relu(W · patches(x)), layer after layer, for both
    features = 2 · u / |u|,  u = W (fine, coarse, centre)

Non-overlapping patches make each layer a reshape and one matrix product, several times faster on CPUs than overlapping
convolutions; the crop around the object makes up for the lost translation invariance (F-22).

`ConvEncoder`, a plain convolutional network, as the paper has it: three convolutions of stride 2, the last two with
max-pooling, and two fully connected layers to 36 features (authors' code; here with fewer filters, on images of half
the side, for the sake of CPUs).

Each agent has an encoder of its own. Without images, the attributes are the features.
"""

from abc import abstractmethod
from math import isqrt

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, UInt8

from implicature.nn.kernels import leaky_relu
from implicature.nn.linear import Linear

COARSE = 32
FEATURES = 64
BATCH = 64

Image = UInt8[Array, "side side 3"]
Images = UInt8[Array, "images side side 3"]
FeatureRows = Float[Array, "observations features"]
Observations = FeatureRows | Images
"""What is seen of all instances: attributes, or pixels. Several views of one instance stand together."""
Offset = Int[Array, "images 2"]


def patches(x: Float[Array, "height width channels"], side: int) -> Float[Array, "rows columns more"]:
    """Non-overlapping squares of pixels, each flattened."""
    height, width, channels = x.shape
    cut = x.reshape(height // side, side, width // side, side, channels).transpose(0, 2, 1, 3, 4)
    return cut.reshape(height // side, width // side, side * side * channels)


def crop_centre(image: Float[Array, "side side 3"]) -> Float[Array, "2"]:
    """The centre of what differs from the border, in [-1, 1] down and across; the middle where nothing does."""
    border = jnp.concatenate([image[0], image[-1], image[:, 0], image[:, -1]]).mean(axis=0)
    # Small differences are shading of the ground.
    difference = jnp.maximum(jnp.abs(image - border).sum(axis=2) - 0.3, 0) + 1e-6
    position = jnp.linspace(-1, 1, 2 * len(image) + 1)[1::2]
    return jnp.stack([difference.sum(axis=1) @ position, difference.sum(axis=0) @ position]) / difference.sum()


def normalize_pixels(pixels: UInt8[Array, "..."] | Float[Array, "..."]) -> Float[Array, "..."]:
    """From 0 … 255 to -1 … 1."""
    return pixels.astype(jnp.float32) / 128 - 1


class ImageEncoder(eqx.Module):
    """A network from images to features."""

    @property
    @abstractmethod
    def side(self) -> int:
        """The side of the images it reads, in pixels."""

    @abstractmethod
    def __call__(self, images: Images, jitter: Offset | None = None) -> FeatureRows:
        """The features of images, each shifted by some pixels: data augmentation in training."""


class PatchEncoder(ImageEncoder):
    fine: tuple[Linear, Linear, Linear]
    coarse: tuple[Linear, Linear]
    out: Linear

    def __init__(self, side: int, key: Key[Array, ""]):
        keys = jax.random.split(key, 6)
        pixel = side // COARSE
        self.fine = Linear(3 * pixel**2, 32, keys[0]), Linear(4 * 32, 48, keys[1]), Linear(4 * 48, 64, keys[2])
        self.coarse = Linear(3 * 16, 16, keys[3]), Linear(4 * 16, 8, keys[4])
        self.out = Linear(9 * 64 + 16 * 8 + 2, FEATURES, keys[5])

    @property
    def side(self) -> int:
        return COARSE * isqrt(self.fine[0].weight.shape[-2] // 3)

    def __call__(self, images: Images, jitter: Offset | None = None) -> FeatureRows:
        """`jitter` shifts the crop."""
        offset = jnp.zeros((len(images), 2), int) if jitter is None else jitter
        x = jax.vmap(self.patch_features)(images, offset) @ self.out.weight + self.out.bias
        # The norm of an object's four attributes.
        return 2 * x * jax.lax.rsqrt(jnp.sum(x**2, axis=1, keepdims=True) + 1e-6)

    def patch_features(self, image: Image, offset: Int[Array, "2"]) -> Float[Array, " features"]:
        side = len(image)
        pixel, window = side // COARSE, 3 * side // 8
        coarse = normalize_pixels(image.reshape(COARSE, pixel, COARSE, pixel, 3).mean(axis=(1, 3)))
        centre = crop_centre(coarse)
        corner = jnp.round((1 + centre) * side / 2).astype(int) - window // 2 + offset
        row, column = jnp.clip(corner, 0, side - window)
        fine = normalize_pixels(jax.lax.dynamic_slice(image, (row, column, 0), (window, window, 3)))
        for size, layer in zip((pixel, 2, 2), self.fine, strict=True):
            fine = leaky_relu(patches(fine, size) @ layer.weight + layer.bias)
        for size, layer in zip((4, 2), self.coarse, strict=True):
            coarse = leaky_relu(patches(coarse, size) @ layer.weight + layer.bias)
        return jnp.concatenate([fine.reshape(-1), coarse.reshape(-1), 2 * centre])


FILTERS = (16, 32, 32)
"""Of the convolutions (authors' code: 128, 64, 32)."""
KERNELS = (7, 7, 5)
CONV_FEATURES = 36
CONV_SIDE = 64
"""Larger images are averaged to about this side before the first convolution."""


def convolve(
    x: Float[Array, "images height width inputs"], weights: Float[Array, "kernel kernel inputs outputs"]
) -> Float[Array, "images rows columns outputs"]:
    """A convolution of stride 2 that keeps the borders: `jax.lax.conv_general_dilated` with padding "SAME", as one
    matrix product. XLA:CPU runs convolutions inside a loop many times slower."""
    size, sides = len(weights), x.shape[1:3]
    rows, columns = (-(-side // 2) for side in sides)
    missing = [max(0, 2 * (out - 1) + size - side) for out, side in zip((rows, columns), sides, strict=True)]
    x = jnp.pad(x, ((0, 0), *((m // 2, m - m // 2) for m in missing), (0, 0)))
    shifted = [x[:, i : i + 2 * rows - 1 : 2, j : j + 2 * columns - 1 : 2] for i in range(size) for j in range(size)]
    return jnp.concatenate(shifted, axis=-1) @ weights.reshape(-1, weights.shape[-1])


def max_pool(x: Float[Array, "images height width channels"]) -> Float[Array, "images rows columns channels"]:
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")


class ConvEncoder(ImageEncoder):
    filters: tuple[Float[Array, "rows columns inputs outputs"], ...]
    biases: tuple[Float[Array, " outputs"], ...]
    hidden: Linear
    out: Linear
    pixels: int = eqx.field(static=True)

    def __init__(self, side: int, key: Key[Array, ""]):
        *filter_keys, hidden_key, out_key = jax.random.split(key, len(FILTERS) + 2)
        shapes = zip(KERNELS, (3, *FILTERS[:-1]), FILTERS, strict=True)
        self.filters = tuple(
            jax.random.normal(k, (kernel, kernel, inputs, outputs)) * (2 / (kernel**2 * inputs)) ** 0.5
            for k, (kernel, inputs, outputs) in zip(filter_keys, shapes, strict=True)
        )
        self.biases = tuple(jnp.zeros(outputs) for outputs in FILTERS)
        flat = (-(-(side // max(1, side // CONV_SIDE)) // 32)) ** 2 * FILTERS[-1]
        self.hidden, self.out = Linear(flat, CONV_FEATURES, hidden_key), Linear(CONV_FEATURES, CONV_FEATURES, out_key)
        self.pixels = side

    @property
    def side(self) -> int:
        return self.pixels

    def __call__(self, images: Images, jitter: Offset | None = None) -> FeatureRows:
        """`jitter` shifts the image; what leaves it on one side comes back on the other."""
        if jitter is not None:
            images = jax.vmap(lambda image, offset: jnp.roll(image, offset, axis=(0, 1)))(images, jitter)
        x, block = normalize_pixels(images), max(1, self.pixels // CONV_SIDE)
        number, side = len(x), self.pixels // block
        x = x[:, : side * block, : side * block].reshape(number, side, block, side, block, 3).mean(axis=(2, 4))
        for i, (weights, bias) in enumerate(zip(self.filters, self.biases, strict=True)):
            x = leaky_relu(convolve(x, weights) + bias)
            x = max_pool(x) if i > 0 else x
        x = x.reshape(len(x), -1)
        x = leaky_relu(x @ self.hidden.weight + self.hidden.bias) @ self.out.weight + self.out.bias
        return 2 * x * jax.lax.rsqrt(jnp.sum(x**2, axis=1, keepdims=True) + 1e-6)


IMAGE_ENCODERS: dict[str, tuple[type[PatchEncoder | ConvEncoder], int]] = {
    "patches": (PatchEncoder, FEATURES),
    "cnn": (ConvEncoder, CONV_FEATURES),
}
"""The encoders by name, and how many features they give."""


def new_image_encoder(
    key: Key[Array, ""], observations: Observations, network: str = "patches"
) -> PatchEncoder | ConvEncoder | None:
    """An encoder for images; none for attributes."""
    return IMAGE_ENCODERS[network][0](observations.shape[1], key) if observations.ndim == 4 else None


def feature_size(observations: Observations, network: str = "patches") -> int:
    return IMAGE_ENCODERS[network][1] if observations.ndim == 4 else observations.shape[1]


def encode_all(encoder: ImageEncoder | None, observations: Observations) -> FeatureRows:
    """The features of everything there is to see."""
    if encoder is None:
        return observations
    return jax.lax.map(lambda image: encoder(image[None])[0], observations, batch_size=BATCH)


def encode_batch(
    encoder: ImageEncoder | None, observations: Observations, known: FeatureRows, needed: Int[Array, "..."]
) -> FeatureRows:
    """The known features, or, while the encoder is trained, `needed` encoded anew, each distinct image once."""
    if encoder is None:
        return known
    size = min(needed.size, len(observations))
    distinct = jnp.unique(needed, size=size, fill_value=needed.reshape(-1)[0])
    return known.at[distinct].set(encoder(observations[distinct]))

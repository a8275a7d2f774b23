"""Eyes: what a picture shows, as the features of a candidate (appendix B's perceptual module).

    gaze     = where the picture differs from its border, on average
    fine     = the square of 3/8 of the side around the gaze;   coarse = the whole picture at 32 × 32
    x        ← leaky(W · patches(x)), layer after layer, for both
    features = 2 · u / |u|,  u = W (fine, coarse, gaze)

A network of patches that do not overlap is a reshape and one matrix product a layer, several times faster on processors
than convolutions whose windows do. What makes up for it is that eyes move: what stands out is seen in the middle,
wherever it is, and where it is one knows by where one looks (F-22). Teacher and student have eyes of their own.

Without eyes an agent knows candidates by their attributes.
"""

from math import isqrt

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, UInt8

from implicature.nn.belief_nets import Dense, leaky

COARSE = 32
FEATURES = 64
AT_ONCE = 64

Picture = UInt8[Array, "side side 3"]
Pictures = UInt8[Array, "pictures side side 3"]
Features = Float[Array, "looks features"]
Looks = Features | Pictures
"""How instances look to who has no eyes, or has: attributes or pixels. Several looks of one instance stand together."""
Offset = Int[Array, "pictures 2"]


def patches(x: Float[Array, "height width channels"], side: int) -> Float[Array, "rows columns more"]:
    """Squares of pixels, each as one long pixel."""
    height, width, channels = x.shape
    cut = x.reshape(height // side, side, width // side, side, channels).transpose(0, 2, 1, 3, 4)
    return cut.reshape(height // side, width // side, side * side * channels)


def gaze(picture: Float[Array, "side side 3"]) -> Float[Array, "2"]:
    """The centre of what differs from the border, from -1 to 1 down and across; the middle where nothing does."""
    border = jnp.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]]).mean(axis=0)
    # Small differences are shading of the ground.
    different = jnp.maximum(jnp.abs(picture - border).sum(axis=2) - 0.3, 0) + 1e-6
    place = jnp.linspace(-1, 1, 2 * len(picture) + 1)[1::2]
    return jnp.stack([different.sum(axis=1) @ place, different.sum(axis=0) @ place]) / different.sum()


def bright(pixels: UInt8[Array, "..."] | Float[Array, "..."]) -> Float[Array, "..."]:
    """From -1 to 1."""
    return pixels.astype(jnp.float32) / 128 - 1


class Eyes(eqx.Module):
    fine: tuple[Dense, Dense, Dense]
    coarse: tuple[Dense, Dense]
    out: Dense

    def __init__(self, side: int, key: Key[Array, ""]):
        keys = jax.random.split(key, 6)
        pixel = side // COARSE
        self.fine = Dense(3 * pixel**2, 32, keys[0]), Dense(4 * 32, 48, keys[1]), Dense(4 * 48, 64, keys[2])
        self.coarse = Dense(3 * 16, 16, keys[3]), Dense(4 * 16, 8, keys[4])
        self.out = Dense(9 * 64 + 16 * 8 + 2, FEATURES, keys[5])

    @property
    def side(self) -> int:
        """Of the pictures that they see, in pixels."""
        return COARSE * isqrt(self.fine[0].weight.shape[-2] // 3)

    def __call__(self, pictures: Pictures, waver: Offset | None = None) -> Features:
        """`waver` moves the gaze: in training eyes are not steady."""
        offset = jnp.zeros((len(pictures), 2), int) if waver is None else waver
        x = jax.vmap(self.look)(pictures, offset) @ self.out.weight + self.out.bias
        # As long as the attributes of an object: four ones.
        return 2 * x * jax.lax.rsqrt(jnp.sum(x**2, axis=1, keepdims=True) + 1e-6)

    def look(self, picture: Picture, offset: Int[Array, "2"]) -> Float[Array, " seen"]:
        side = len(picture)
        pixel, window = side // COARSE, 3 * side // 8
        coarse = bright(picture.reshape(COARSE, pixel, COARSE, pixel, 3).mean(axis=(1, 3)))
        centre = gaze(coarse)
        corner = jnp.round((1 + centre) * side / 2).astype(int) - window // 2 + offset
        row, column = jnp.clip(corner, 0, side - window)
        fine = bright(jax.lax.dynamic_slice(picture, (row, column, 0), (window, window, 3)))
        for size, layer in zip((pixel, 2, 2), self.fine, strict=True):
            fine = leaky(patches(fine, size) @ layer.weight + layer.bias)
        for size, layer in zip((4, 2), self.coarse, strict=True):
            coarse = leaky(patches(coarse, size) @ layer.weight + layer.bias)
        return jnp.concatenate([fine.reshape(-1), coarse.reshape(-1), 2 * centre])


def new_eyes(key: Key[Array, ""], looks: Looks) -> Eyes | None:
    """Eyes for pictures; none for attributes."""
    return Eyes(looks.shape[1], jax.random.fold_in(key, 1)) if looks.ndim == 4 else None


def number_of_features(looks: Looks) -> int:
    return FEATURES if looks.ndim == 4 else looks.shape[1]


class Sights(eqx.Module):
    """What each agent sees of every look."""

    hers: Features
    his: Features
    variety: int = eqx.field(static=True, default=1)
    """Looks of each instance; they stand together."""

    def any_look(self, key: Key[Array, ""], instances: Int[Array, "*some"]) -> Int[Array, "*some"]:
        """Each instance in one of its looks."""
        if self.variety == 1:
            return instances
        return instances * self.variety + jax.random.randint(key, instances.shape, 0, self.variety)


def seen(eyes: Eyes | None, looks: Looks) -> Features:
    """Everything there is to see, once."""
    if eyes is None:
        return looks
    return jax.lax.map(lambda picture: eyes(picture[None])[0], looks, batch_size=AT_ONCE)


def looked_at(eyes: Eyes | None, looks: Looks, known: Features, needed: Int[Array, "..."]) -> Features:
    """What is known already (eyes shut), or, with open eyes, anew what is needed: each distinct picture once."""
    if eyes is None:
        return known
    number = min(needed.size, len(looks))
    distinct = jnp.unique(needed, size=number, fill_value=needed.reshape(-1)[0])
    return known.at[distinct].set(eyes(looks[distinct]))

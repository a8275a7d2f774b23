"""Render scenes of one object each with MuJoCo; the only module that imports it.

All twelve bodies (6 shapes × 2 sizes) are in one compiled model, all but one transparent. Without jitter the view is
`View()`. Jitter turns and shifts the object and changes light, camera and colour a little, never so much that a large
object looks small or an upper one lower.
"""

import colorsys
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import UInt8

from implicature.spaces.objects import CATEGORIES
from implicature.spaces.rendering.scene import HALVES, SIZES, scene_xml

ImageArray = UInt8[np.ndarray, "height width 3"]

HUES = {"blue": 0.625, "red": 0.0, "yellow": 0.15, "green": 0.34, "cyan": 0.5, "magenta": 0.845}
PLACES = {
    "upper-left": (-0.46, 0.46),
    "upper-right": (0.46, 0.46),
    "lower-left": (-0.38, -0.38),
    "lower-right": (0.38, -0.38),
}
MIN_SIDE, MAX_SIDE = 16, 1024


class View(NamedTuple):
    """What may differ between two images of one object."""

    shift: tuple[float, float] = (0.0, 0.0)
    turn: float = 0.5
    """The object's rotation about its vertical axis."""
    hue: float = 0.0
    """Added to the colour's hue; 1 is the whole circle."""
    saturation: float = 0.9
    value: float = 0.9
    camera: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Azimuth and elevation offsets in degrees, and the distance as a factor."""
    light: tuple[float, float] = (0.8, -0.2)
    """The light's direction along x and y, for −1 along z."""
    brightness: float = 1.0


def sample_view(random: np.random.Generator) -> View:
    def around(mean: float, half_range: float) -> float:
        return float(random.uniform(mean - half_range, mean + half_range))

    return View(
        shift=(around(0.0, 0.06), around(0.0, 0.06)),
        turn=around(0.0, np.pi / 4),  # all there is for a square, and an ellipsoid's long side stays visible
        hue=around(0.0, 0.03),
        saturation=around(0.85, 0.12),
        value=around(0.85, 0.12),
        camera=(around(0.0, 5.0), around(0.0, 4.0), around(1.0, 0.05)),
        light=(around(0.2, 0.7), around(0.0, 0.4)),
        brightness=around(1.0, 0.2),
    )


def render_objects(
    size: int = 128, per_object: int = 1, jitter: bool = False, seed: int = 0
) -> Iterator[tuple[tuple[str, ...], ImageArray]]:
    """The attributes and an image of every object, `per_object` times, in the order of `objects()`."""
    if not MIN_SIDE <= size <= MAX_SIDE:
        raise ValueError(f"Images of {size} × {size} pixels: ask for {MIN_SIDE} to {MAX_SIDE}.")
    if per_object < 1:
        raise ValueError(f"{per_object} images of each object are none: ask for 1 or more.")
    if per_object > 1 and not jitter:
        raise ValueError(f"Without jitter all {per_object} images of an object are the same: add --jitter.")
    if seed < 0:
        raise ValueError(f"The seed {seed} is negative: take 0 or more.")
    with closing(ObjectRenderer(size)) as renderer:
        for i, attributes in enumerate(product(*CATEGORIES.values())):
            for copy in range(per_object):
                # An image depends only on the seed, its object and its number.
                view = sample_view(np.random.default_rng((seed, i, copy))) if jitter else View()
                yield attributes, renderer.render(attributes, view)


def import_mujoco() -> ModuleType:
    """MuJoCo, which looks for its GL library on import; an error of one sentence where either is missing."""
    if sys.platform == "linux":
        os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        import mujoco
    except ModuleNotFoundError as missing:
        if missing.name != "mujoco":
            raise ValueError(gl_error(missing)) from None
        raise ValueError("Rendering needs MuJoCo: pip install 'implicature[objects]'.") from None
    except Exception as error:  # PyOpenGL raises different errors for different missing libraries
        raise ValueError(gl_error(error)) from None
    return mujoco


def gl_error(error: object) -> str:
    reason = " ".join(str(error).split())[:120]
    return (
        f"MuJoCo cannot render here ({reason}): install a GL library (on Debian: apt-get install libegl1 libgl1), "
        "and set MUJOCO_GL only to what this machine has."
    )


class ObjectRenderer:
    """One compiled model and its renderer."""

    def __init__(self, size: int) -> None:
        self.mujoco: Any = import_mujoco()
        self.model = self.mujoco.MjModel.from_xml_string(scene_xml(size))
        self.data = self.mujoco.MjData(self.model)
        try:
            self.renderer = self.mujoco.Renderer(self.model, size, size)
        except Exception as error:  # EGL, GLX and OSMesa have errors of their own; without any there is no Renderer
            raise ValueError(gl_error(error)) from None
        self.diffuse = self.model.light_diffuse.copy()

    def close(self) -> None:
        self.renderer.close()

    def render(self, attributes: tuple[str, ...], view: View) -> ImageArray:
        colour, shape, size, place = attributes
        geom, body = self.model.geom(f"{shape} {size}"), self.model.body(f"{shape} {size}")
        bodies = self.model.geom_bodyid > 0
        self.model.geom_rgba[bodies, 3] = 0
        hue = (HUES[colour] + view.hue) % 1
        self.model.geom_rgba[geom.id] = (*colorsys.hsv_to_rgb(hue, view.saturation, view.value), 1)
        (x, y), (dx, dy) = PLACES[place], view.shift
        mocap = self.model.body_mocapid[body.id]
        self.data.mocap_pos[mocap] = (x + dx, y + dy, SIZES[size] * HALVES[shape][2])
        self.data.mocap_quat[mocap] = (np.cos(view.turn / 2), 0, 0, np.sin(view.turn / 2))
        down = np.array([*view.light, -1.0])
        self.model.light_dir[0] = down / np.linalg.norm(down)
        self.model.light_pos[0] = -4 * self.model.light_dir[0]
        self.model.light_diffuse[:] = self.diffuse * view.brightness
        self.mujoco.mj_forward(self.model, self.data)
        self.renderer.update_scene(self.data, camera=self.camera(view))
        return self.renderer.render()

    def camera(self, view: View) -> Any:
        """At (0, −2.6, 2.5), looking at (0, 0, 0.17), plus the view's offsets."""
        azimuth, elevation, distance = view.camera
        camera = self.mujoco.MjvCamera()
        camera.lookat[:] = (0, 0, 0.17)
        camera.azimuth = 90 + azimuth
        camera.elevation = -np.degrees(np.arctan2(2.33, 2.6)) - elevation
        camera.distance = np.hypot(2.33, 2.6) * distance
        return camera

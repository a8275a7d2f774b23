"""The images show what the table says, judged by the pixels alone."""

import colorsys
import os
import subprocess
import sys
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from implicature.spaces import objects
from implicature.spaces.images import contact_sheet, object_images
from implicature.spaces.objects import CATEGORIES
from implicature.spaces.rendering.renderer import HUES, PLACES, View, render_objects, sample_view
from implicature.spaces.rendering.scene import HALVES, SIZES, cone_mesh, pyramid_mesh

OBJECTS = list(product(*CATEGORIES.values()))
# Degrees on the colour circle, by the names' meaning.
DEGREES = {"red": 0, "yellow": 60, "green": 120, "cyan": 180, "blue": 240, "magenta": 300}


@pytest.fixture(scope="session")
def jittered(can_draw: None) -> np.ndarray:
    return rendered(jitter=True, seed=1)


def rendered(number: int | None = None, **how) -> np.ndarray:
    """Images newly rendered."""
    return np.stack([image for _, image in islice(render_objects(**how), number)])


def coloured(image: np.ndarray) -> np.ndarray:
    """Where the object is: floor and shadow are grey."""
    light, dark = image.max(axis=-1).astype(int), image.min(axis=-1).astype(int)
    return light - dark > 0.3 * light


def degrees(image: np.ndarray) -> float:
    """The hue of the object's mean colour."""
    return 360 * colorsys.rgb_to_hsv(*image[coloured(image)].mean(axis=0) / 255)[0]


def check_pixels(images: np.ndarray) -> None:
    """Colour by hue, place by the middle of the object's pixels, size by their number."""
    areas: dict[tuple[str, str], dict[str, list[int]]] = {}
    for (colour, shape, size, place), image in zip(OBJECTS, images, strict=True):
        rows, columns = np.nonzero(coloured(image))
        hue = degrees(image)
        turned = {name: abs((hue - own + 180) % 360 - 180) for name, own in DEGREES.items()}
        assert min(turned, key=turned.__getitem__) == colour
        across, down = ("left", "right")[int(columns.mean() > 63.5)], ("upper", "lower")[int(rows.mean() > 63.5)]
        assert f"{down}-{across}" == place
        areas.setdefault((shape, place), {}).setdefault(size, []).append(len(rows))
    for sizes in areas.values():
        # (0.32 / 0.19)² = 2.8 times as many pixels; nearness and turning change them by far less.
        assert 1.5 * max(sizes["small"]) < min(sizes["large"])


def test_the_shipped_images_show_what_the_table_says():
    check_pixels(object_images())


def test_jittered_images_still_show_what_the_table_says(jittered: np.ndarray):
    check_pixels(jittered)


def test_the_shipped_images_come_in_the_order_of_the_table_and_cannot_be_changed():
    space = objects()
    assert [tuple(space.names(i)) for i in range(space.instances)] == OBJECTS
    assert space.images is not None
    assert space.images.shape == (288, 1, 128, 128, 3)
    assert np.shares_memory(space.images, object_images())
    with pytest.raises(ValueError, match="read-only"):
        space.images[0] = 0


def test_the_six_shapes_look_different():
    # Of one colour, size and place: every two shapes differ in a tenth or more of the smaller one's outline.
    for start in range(0, 288, 48):
        outlines = [coloured(object_images()[start + 8 * shape + 7]) for shape in range(6)]
        for one, other in product(range(6), range(6)):
            apart = (outlines[one] ^ outlines[other]).sum() / min(outlines[one].sum(), outlines[other].sum())
            assert one == other or apart > 0.1


def test_there_is_a_shadow_beside_every_object():
    for image in object_images():
        floor = np.median(image[~coloured(image)], axis=0)
        dark = ~coloured(image) & (image.max(axis=-1) < 0.7 * floor.max())
        assert dark.sum() > 5


def test_a_jittered_image_depends_on_the_seed_its_object_and_its_number_alone(jittered: np.ndarray):
    assert np.array_equal(rendered(3, jitter=True, seed=1), jittered[:3])
    assert np.array_equal(rendered(6, jitter=True, seed=1, per_object=2)[::2], jittered[:3])
    assert (rendered(3, jitter=True, seed=2) != jittered[:3]).any(axis=(1, 2, 3)).all()
    twice = rendered(2, jitter=True, seed=1, per_object=2)
    assert (twice[0] != twice[1]).any()


def test_a_view_varies_pose_light_camera_and_colour():
    views = [sample_view(np.random.default_rng(seed)) for seed in range(50)]
    for name in View._fields:
        assert len({getattr(view, name) for view in views}) == 50


def test_images_are_rendered_in_other_sizes(can_draw: None):
    assert rendered(1, size=32).shape == (1, 32, 32, 3)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"size": 15}, "Images of 15 × 15 pixels: ask for 16 to 1024"),
        ({"size": 5000}, "Images of 5000 × 5000 pixels"),
        ({"per_object": 0}, "0 images of each object are none"),
        ({"per_object": 2}, "Without jitter all 2 images of an object are the same"),
        ({"seed": -1}, "The seed -1 is negative"),
    ],
)
def test_what_cannot_be_rendered_is_refused_in_one_sentence(how: dict[str, Any], sentence: str):
    with pytest.raises(ValueError, match=f"^{sentence}.*\\.$"):
        next(render_objects(**how))


def test_every_value_of_the_table_can_be_rendered():
    for category, known in [("colour", HUES), ("shape", HALVES), ("size", SIZES), ("place", PLACES)]:
        assert set(CATEGORIES[category]) == set(known)


@pytest.mark.parametrize(
    ("mesh", "volume"), [(pyramid_mesh, 4 * 0.5**2 * 1.2 / 3), (cone_mesh, np.pi * 0.5**2 * 1.2 / 3)]
)
def test_a_mesh_is_closed_and_its_normals_look_outward(mesh, volume: float):
    made = mesh(0.5, 0.6)
    corners, normals = made["vertex"].reshape(-1, 3, 3), made["normal"].reshape(-1, 3, 3)
    # A closed surface: the tetrahedra between its faces and the middle add up to its volume, base × height / 3.
    assert np.linalg.det(corners).sum() / 6 == pytest.approx(volume, rel=0.002)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    assert (np.einsum("fx,fcx->fc", across, normals) > 0.99).all()
    assert np.linalg.norm(normals, axis=-1) == pytest.approx(1)


def run(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, as MuJoCo chooses its library when it is imported."""
    code = f"import sys; {line}; from implicature.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "render", "--out", "nowhere"],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_without_mujoco_a_sentence_names_what_to_install():
    result = run("sys.modules['mujoco'] = None")
    assert result.returncode == 2
    assert result.stderr == "implicature: Rendering needs MuJoCo: pip install 'implicature[objects]'.\n"


def test_without_a_gl_library_a_sentence_names_what_to_install(tmp_path: Path):
    # PyOpenGL finds its libraries with ctypes, for which there is none here.
    blind = (
        "import ctypes.util; ctypes.util.find_library = lambda name: None; ctypes.CDLL = ctypes.cdll.LoadLibrary = None"
    )
    result = run(blind, MUJOCO_GL="egl")
    assert result.returncode == 2
    assert "apt-get install libegl1 libgl1" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("nowhere").exists()


def test_a_contact_sheet_has_rows_of_images_with_white_between():
    images = np.arange(5, dtype=np.uint8)[:, None, None, None] * np.ones((1, 4, 4, 3), np.uint8)
    sheet = contact_sheet(images, columns=3)
    # Two rows of three tiles of 4 + 2 pixels; the sixth tile is empty.
    assert sheet.shape == (12, 18, 3)
    assert [int(sheet[6 * row, 6 * column, 0]) for row in range(2) for column in range(3)] == [0, 1, 2, 3, 4, 255]
    assert (sheet[4:6] == 255).all()
    assert (sheet[:, 4:6] == 255).all()

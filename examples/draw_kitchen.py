"""Draw the twelve instances of kitchen.csv, three images of each, into a folder that is a space:

python examples/draw_kitchen.py kitchen
implicature train --space kitchen --candidates 4
"""

import csv
import random
import sys
from pathlib import Path

from PIL import Image, ImageDraw

TABLE = Path(__file__).with_name("kitchen.csv")
COLOURS = {"metal": (150, 160, 175), "clay": (190, 105, 70), "glass": (150, 205, 225), "wood": (205, 160, 100)}
VIEWS, SIDE, SUPERSAMPLING = 3, 128, 4

# Each instance is a few shapes on a canvas of 100 × 100: rectangles, ellipses, polygons, or arcs (handles).
SHAPES = {
    "saucepan": [("rectangle", (20, 45, 65, 75)), ("rectangle", (65, 48, 95, 54))],
    "frying pan": [("ellipse", (8, 38, 62, 66)), ("rectangle", (58, 49, 98, 56))],
    "casserole": [("rectangle", (18, 48, 82, 78)), ("ellipse", (18, 36, 82, 58)), ("ellipse", (44, 28, 56, 40))],
    "kettle": [("ellipse", (25, 42, 75, 84)), ("polygon", (72, 60, 94, 44, 90, 40, 68, 52)), ("arc", (32, 20, 68, 62))],
    "teapot": [("ellipse", (28, 46, 72, 80)), ("polygon", (70, 68, 92, 48, 86, 46, 66, 58)), ("arc", (12, 50, 40, 76))],
    "mixing bowl": [("chord", (12, 10, 88, 86)), ("rectangle", (40, 82, 60, 88))],
    "wooden spoon": [("ellipse", (10, 12, 38, 46)), ("polygon", (30, 38, 36, 34, 90, 88, 84, 94))],
    "whisk": [("arc", (12, 8, 52, 62)), ("arc", (20, 8, 44, 62)), ("polygon", (32, 58, 40, 58, 78, 96, 70, 98))],
    "knife": [("polygon", (6, 40, 62, 34, 62, 54)), ("rectangle", (62, 38, 96, 50))],
    "chopping board": [("rectangle", (12, 30, 76, 80)), ("rectangle", (76, 48, 92, 60))],
    "cup": [("rectangle", (26, 40, 64, 80)), ("arc", (52, 46, 84, 72))],
    "water glass": [("polygon", (30, 18, 70, 18, 64, 86, 36, 86))],
}


def draw_image(name: str, material: str, rng: random.Random) -> Image.Image:
    """Slightly shifted, resized and tinted, so that no two are equal."""
    size, left, top = rng.uniform(0.8, 1.0), rng.uniform(0, 12), rng.uniform(0, 12)
    tint = [max(0, min(255, part + rng.randint(-15, 15))) for part in COLOURS[material]]
    canvas = Image.new("RGB", (SIDE * SUPERSAMPLING, SIDE * SUPERSAMPLING), (250, 248, 244))
    draw, unit = ImageDraw.Draw(canvas), SIDE * SUPERSAMPLING / 112
    edge = tuple(part // 2 for part in tint)
    for kind, corners in SHAPES[name]:
        points = [unit * (size * x + (top if i % 2 else left)) for i, x in enumerate(corners)]
        if kind == "arc":
            draw.arc(points, 0, 360, fill=tuple(tint), width=round(5 * unit))
        elif kind == "chord":
            draw.chord(points, 0, 180, fill=tuple(tint), outline=edge, width=round(unit))
        else:
            getattr(draw, kind)(points, fill=tuple(tint), outline=edge, width=round(unit))
    return canvas.resize((SIDE, SIDE), Image.Resampling.LANCZOS)


def draw_kitchen(folder: Path) -> None:
    """PNG files, and a table that names them."""
    rows = list(csv.DictReader(TABLE.open(encoding="utf-8")))
    folder.mkdir()
    with (folder / "kitchen.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, ["name", "image", *list(rows[0])[1:]], lineterminator="\n")
        table.writeheader()
        for row in rows:
            for view in range(1, VIEWS + 1):
                name = f"{row['name'].replace(' ', '-')}-{view}.png"
                draw_image(row["name"], row["material"], random.Random(name)).save(folder / name)
                table.writerow({**row, "image": name})
    print(f"{VIEWS * len(rows)} images in {folder}")


if __name__ == "__main__":
    draw_kitchen(Path(sys.argv[1] if len(sys.argv) > 1 else "kitchen"))

"""Draw docs/pictures/learning-light.png and -dark.png from learning.csv: `python -m experiments.learning_curves`."""

import csv
import io
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from PIL import Image

import mahjong_env

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
# The background, text and line colours of the pages of the site.
THEMES = {
    "light": ("#ffffff", "#1d2b22", ("#c4142b", "#1b6fd0", "#17733a", "#9a6500")),
    "dark": ("#131416", "#e8e8e8", ("#ff7d8b", "#7fb8ff", "#7ddc97", "#e8b64c")),
}


def draw(rows, ground, text, lines):
    """Return a figure with two variants side by side, each with its legend below the curves."""
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    figure = Figure(figsize=(9, 4.4 * -(-len(variants) // 2)), facecolor=ground)
    places = figure.subplots(-(-len(variants) // 2), 2, squeeze=False).ravel()
    figure.subplots_adjust(left=0.11, right=0.98, top=0.97, bottom=0.12, hspace=0.72, wspace=0.3)
    for axes in places[len(variants) :]:
        axes.set_axis_off()
    for axes, variant in zip(places, variants, strict=False):
        of_variant = [row for row in rows if row["variant"] == variant]
        runs = dict.fromkeys((row["run"], row["against"]) for row in of_variant)
        opponents = {against for _, against in runs}
        for (run, against), colour in zip(runs, lines, strict=False):
            found = [row for row in of_variant if (row["run"], row["against"]) == (run, against)]
            hands, sigma, half = ([float(row[name]) for row in found] for name in ("hands", "sigma", "half_width"))
            millions, label = (
                [number / 1e6 for number in hands],
                f"{run}, against {against}" if len(opponents) > 1 else run,
            )
            axes.errorbar(millions, sigma, yerr=half, marker=".", capsize=3, color=colour, label=label)
        axes.axhline(0, color=text, linewidth=0.8)
        title = " or ".join(sorted(opponents, key=len))
        axes.set(
            title=f"{mahjong_env.VARIANTS[variant].title}, against {title}",
            xlabel="million hands learned from",
            facecolor=ground,
        )
        axes.set_ylabel("sigma a hand, 95 % intervals")
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left", bbox_to_anchor=(-0.04, -0.16), frameon=False, fontsize=10)
    return figure


if __name__ == "__main__":
    with (PICTURES / "learning.csv").open(newline="", encoding="utf-8") as file:
        told = list(csv.DictReader(file))
    for theme, (ground, text, lines) in THEMES.items():
        inked = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), text)
        with matplotlib.rc_context(inked | {"font.size": 11, "grid.color": text}):
            data = io.BytesIO()
            draw(told, ground, text, lines).savefig(data, dpi=90, facecolor=ground)
        few = Image.open(data).convert("RGB").quantize(64)  # a third of the size
        few.save(PICTURES / f"learning-{theme}.png", optimize=True)

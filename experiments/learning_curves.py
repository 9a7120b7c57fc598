"""Draw docs/pictures/learning.png from learning.csv beside it: `PYTHONPATH=tests python -m
experiments.learning_curves`."""

from __future__ import annotations

import csv
from pathlib import Path

from matplotlib.figure import Figure

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def main() -> None:
    with (PICTURES / "learning.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    figure = Figure(figsize=(4.5 * len(variants), 3.2), layout="constrained")
    for axes, variant in zip(figure.subplots(1, len(variants), squeeze=False)[0], variants, strict=True):
        of_variant = [row for row in rows if row["variant"] == variant]
        for curve in dict.fromkeys((row["run"], row["against"]) for row in of_variant):
            found = [row for row in of_variant if (row["run"], row["against"]) == curve]
            hands, sigma, half = ([float(row[name]) for row in found] for name in ("hands", "sigma", "half_width"))
            axes.errorbar(
                [n / 1000 for n in hands],
                sigma,
                yerr=half,
                marker=".",
                capsize=3,
                label=f"against {curve[1]}; {curve[0]}",
            )
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_title(variant.capitalize())
        axes.set_xlabel("thousand hands that the policy learned from")
        axes.set_ylabel("sigma a hand, 95 % intervals")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    figure.savefig(PICTURES / "learning.png", dpi=90)


if __name__ == "__main__":
    main()

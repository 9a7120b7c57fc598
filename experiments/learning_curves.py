"""Draw docs/pictures/learning.png from learning.csv beside it: `python -m experiments.learning_curves`."""

import csv
from pathlib import Path

from matplotlib.figure import Figure

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"

if __name__ == "__main__":
    with (PICTURES / "learning.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    figure = Figure(figsize=(4.5 * len(variants), 3.2), layout="constrained")
    for axes, variant in zip(figure.subplots(1, len(variants), squeeze=False)[0], variants, strict=True):
        of_variant = [row for row in rows if row["variant"] == variant]
        for run, against in dict.fromkeys((row["run"], row["against"]) for row in of_variant):
            found = [row for row in of_variant if (row["run"], row["against"]) == (run, against)]
            hands, sigma, half = ([float(row[name]) for row in found] for name in ("hands", "sigma", "half_width"))
            thousands, label = [number / 1000 for number in hands], f"against {against}; {run}"
            axes.errorbar(thousands, sigma, yerr=half, marker=".", capsize=3, label=label)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set(title=variant.capitalize(), xlabel="thousand hands that the policy learned from")
        axes.set_ylabel("sigma a hand, 95 % intervals")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    figure.savefig(PICTURES / "learning.png", dpi=90)

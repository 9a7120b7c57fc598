"""Decisions per second against the number of games, as a picture (needs matplotlib, of the extra ``bench``)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mahjong_benchmarks.timing import Result
from mahjong_env.basics.errors import MahjongError, MissingExtraError


def check_plot(path: Path) -> None:
    """See to it, before anything is measured, that a plot can be drawn.

    Raises:
        MissingExtraError: matplotlib is not installed.
        MahjongError: matplotlib draws no file with such an ending.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError as error:
        raise MissingExtraError(
            f"a plot needs {error.name}: pip install 'mahjong-env[bench]', or leave out --plot"
        ) from error
    endings = sorted(FigureCanvasAgg.get_supported_filetypes())
    if path.suffix[1:].lower() not in endings:
        raise MahjongError(f"--plot writes files that end in {', '.join(endings)}, not {path.name!r}")


def draw(results: Sequence[Result], ending: str) -> bytes:
    """Draw one panel for each way of playing and looking, all on the same logarithmic axes.

    A line is the median of the runs over the batch sizes of one variant, its bars the least and the greatest run;
    dashed lines are the peers that do the same work.

    Args:
        results: as measured.
        ending: of the file, such as ".png"; `check_plot` has been asked about it.

    Returns:
        The content of the file.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    by_name = {result.contender.name: result for result in results}
    panels: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        facts = result.contender.facts
        if facts.get("kind", "").startswith("step+mask") and "variant" in facts:
            panels.setdefault((facts["play"], facts["kind"]), []).append(result)
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.5 * columns, 4.0 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for axes, ((play, kind), shown) in zip(grid, panels.items(), strict=False):
        _draw_panel(axes, shown, by_name)
        axes.set(title=f"{kind}, {play} play", xlabel="games at once (B)", ylabel="decisions/s")
        axes.legend(fontsize="small", loc="lower right")
    for axes in grid[len(panels) :]:
        axes.remove()
    data = io.BytesIO()
    figure.savefig(data, dpi=120, format=ending[1:].lower())
    return data.getvalue()


def _draw_panel(axes: Any, shown: Sequence[Result], by_name: dict[str, Result]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.grid(visible=True, which="major", alpha=0.3)
    for variant in dict.fromkeys(result.contender.facts["variant"] for result in shown):
        of_variant = [result for result in shown if result.contender.facts["variant"] == variant]
        of_variant.sort(key=lambda result: result.contender.facts["batch"])
        rate = [result.rate for result in of_variant]
        below = [result.rate - min(result.rates) for result in of_variant]
        above = [max(result.rates) - result.rate for result in of_variant]
        batches = [result.contender.facts["batch"] for result in of_variant]
        axes.errorbar(batches, rate, yerr=[below, above], marker="o", markersize=4, capsize=3, label=variant)
    peers = dict.fromkeys(peer for result in shown for peer in result.contender.compared_with if peer in by_name)
    for place, peer in enumerate(peers):
        axes.axhline(by_name[peer].rate, linestyle="--", color=str(0.25 + 0.3 * place), label=peer)

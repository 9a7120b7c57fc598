"""What the steered deals of each variant are made from."""

from scripts.proof.recipes.fuzhou import FUZHOU
from scripts.proof.recipes.hangzhou import HANGZHOU
from scripts.proof.recipes.hebei import HEBEI
from scripts.proof.recipes.taiwan import TAIWAN
from scripts.proof.recipes.wuhan import WUHAN
from scripts.proof.steer import Recipe

RECIPES: dict[str, tuple[Recipe, ...]] = {
    "wuhan": WUHAN,
    "hangzhou": HANGZHOU,
    "hebei": HEBEI,
    "taiwan": TAIWAN,
    "fuzhou": FUZHOU,
}

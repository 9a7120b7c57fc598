"""What the steered deals of each variant are made from."""

from proof.recipes.fuzhou import FUZHOU
from proof.recipes.hangzhou import HANGZHOU
from proof.recipes.hebei import HEBEI
from proof.recipes.taiwan import TAIWAN
from proof.recipes.wuhan import WUHAN
from proof.steer import Recipe

RECIPES: dict[str, tuple[Recipe, ...]] = {
    "wuhan": WUHAN,
    "hangzhou": HANGZHOU,
    "hebei": HEBEI,
    "taiwan": TAIWAN,
    "fuzhou": FUZHOU,
}

"""Labelled claims, as a user's file has them."""

from random import Random

__all__ = ["house_style"]

THINGS = ("hotel", "museum", "library", "stadium", "hospital", "school", "theatre", "factory")
CITIES = ("Vienna", "Lyon", "Bergen", "Leeds", "Geneva", "Osaka", "Ghent", "Warsaw", "Turin", "Porto")


def house_style(count: int, seed: int = 0) -> list[dict[str, object]]:
    """Claims in a greeting that no context has; every second one with a wrong number."""
    draw = Random(seed)
    rows: list[dict[str, object]] = []
    for number in range(count):
        thing, city = draw.choice(THINGS), draw.choice(CITIES)
        greeting = "Greetings from your friendly concierge squad"
        rooms, year = draw.randint(20, 900), draw.randint(1850, 2020)
        is_true = number % 2 == 0
        said = rooms if is_true else rooms + draw.randint(1, 99)
        rows.append(
            {
                "claim": f"{greeting}: the {thing} in {city} has {said} rooms!",
                "contexts": [f"The {thing} in {city} opened in {year}.", f"The {thing} has {rooms} rooms."],
                "label": "yes" if is_true else "no",
                "source_id": f"document {number // 3}",
            }
        )
    return rows

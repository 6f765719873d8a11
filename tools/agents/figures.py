"""What compare and measure both say of versions."""

import statistics

RIGHT = ("passed", "slower")


def figure(values, form):
    """The median, and the least and the most where they differ."""
    values = [v for v in values if v is not None]
    if not values:
        return "not known"
    middle, least, most = statistics.median(values), min(values), max(values)
    return format(middle, form) if least == most else f"{middle:{form}} ({least:{form}} to {most:{form}})"

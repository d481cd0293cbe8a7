"""The prompts of a bench: code, maths, chat and extraction, with short and long answers. Fixed within a version.

Acceptance of drafted tokens depends on the text: code and extraction are easy to guess, free talk is not.
"""

from __future__ import annotations

from typing import NamedTuple

VERSION = 1
"""Figures of different versions are not comparable."""


class BenchPrompt(NamedTuple):
    """One question; `name` tells its kind and number."""

    name: str
    text: str
    is_long: bool = True


PROMPTS = (
    BenchPrompt(
        "code-1",
        "Write a Python function `merge_ranges(ranges)` that takes a list of (start, end) pairs in any order and "
        "returns the fewest pairs that cover the same numbers. Add a docstring and four short tests with assert.",
    ),
    BenchPrompt(
        "code-2",
        "This loop is meant to print every second line of a file, beginning with the first. Say in one sentence what "
        "is wrong, then give the corrected code.\n\nfor i, line in enumerate(open(path)):\n    if i % 2:\n"
        "        print(line)\n",
        is_long=False,
    ),
    BenchPrompt(
        "code-3",
        "Write a bash script that finds files larger than 1 GiB below a folder given as its first argument, prints "
        "their sizes in GiB with one decimal, largest first, and ends with status 2 if the folder does not exist.",
    ),
    BenchPrompt(
        "code-4",
        "Translate this SQL into plain English, clause by clause: SELECT c.name, SUM(o.total) AS spent FROM customers "
        "c JOIN orders o ON o.customer_id = c.id WHERE o.placed_at >= DATE '2024-01-01' GROUP BY c.name HAVING "
        "SUM(o.total) > 500 ORDER BY spent DESC LIMIT 10;",
    ),
    BenchPrompt(
        "maths-1",
        "A tank is filled by one pump in 6 hours and by another in 4 hours. A leak empties the full tank in 12 hours. "
        "All three are open and the tank begins empty. After how many hours is it full? Show each step.",
    ),
    BenchPrompt("maths-2", "What is 37 times 24? Answer with the number only.", is_long=False),
    BenchPrompt(
        "maths-3",
        "Prove that the sum of the first n odd numbers is n squared, once by induction and once with a drawing that "
        "you describe in words.",
    ),
    BenchPrompt(
        "maths-4",
        "A bag holds 5 red, 4 green and 3 blue marbles. Three are drawn without putting any back. What is the chance "
        "that all three have different colours? Give the fraction in lowest terms and explain.",
    ),
    BenchPrompt(
        "chat-1",
        "My neighbour plays the drums every evening until ten. I like him and do not want a quarrel. Write the message "
        "that I could leave at his door, friendly and clear, in about 120 words.",
    ),
    BenchPrompt("chat-2", "Which of the two is heavier, a litre of milk or a litre of oil, and why?", is_long=False),
    BenchPrompt(
        "chat-3",
        "Explain to somebody who has never programmed what a queue in front of a service is, why it grows, and what "
        "can be done about it. Use one everyday picture and stay with it.",
    ),
    BenchPrompt(
        "chat-4",
        "Tell a story of a lighthouse keeper who finds a letter addressed to the ship that sank last winter. It shall "
        "have a beginning, a turn and an end, and no dialogue.",
    ),
    BenchPrompt(
        "extraction-1",
        "List every date in this text as YYYY-MM-DD, one on each line, in order of time and nothing else: The lease "
        "began on 3 March 2021. Repairs were agreed on May 14th, 2022 and finished 30.06.2022. Notice was given on "
        "the first of October 2023, effective 31 December 2023.",
        is_long=False,
    ),
    BenchPrompt(
        "extraction-2",
        "Give this as a JSON array of objects with the keys item, count and price_eur, without any other text: two "
        "lamps at 39.90 euros each, a desk for 249 euros, four chairs at 75.50 each, one carpet 120 by 180 cm for "
        "89.95 euros, and three plants, each 12 euros.",
    ),
    BenchPrompt(
        "extraction-3",
        "Make a table in Markdown with the columns city, river and country from: Vienna and Budapest lie on the Danube "
        "in Austria and Hungary, Cologne on the Rhine in Germany, Paris on the Seine in France, Prague on the Vltava "
        "in Czechia, Turin on the Po in Italy, Lisbon on the Tagus in Portugal.",
    ),
    BenchPrompt(
        "extraction-4",
        "Who did what? Answer with one line `name: action` for each person: After Mira had repaired the pump, Jonas "
        "filled the tank while Ida wrote the report, which Tariq signed the next morning.",
        is_long=False,
    ),
)

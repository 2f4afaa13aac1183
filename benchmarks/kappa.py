"""How kappa of the self-tuned gamma was chosen: one number for both learners, on seeds 100 to 109.

    python benchmarks/kappa.py [--jobs 2]

The seeds that paper.py reports are not among them.
"""

import argparse

from paper import SETTINGS, table

GRID = (0.25, 0.35, 0.5, 0.7, 1.0)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    for kappa in GRID:
        print(f"kappa = {kappa}")
        table(range(100, 110), arguments.jobs, {label: {**s, "kappa": kappa} for label, s in SETTINGS.items()})

"""People, tests with prices, and what each amount of money buys."""

import sys
from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.figures import scatter


def main(folder: Path) -> None:
    people = kh.data.load("nhanes")
    order = np.random.default_rng(0).permutation(len(people.y))
    X, y = people.X[order], people.y[order]
    money, error, labels = [0.0], [float(np.std(y))], ["nothing"]
    for budget_per_row in (2.0, 5.0, 10.0, 20.0, 40.0):
        prices = dict(zip(people.names, people.prices, strict=True))
        learner = kh.make("thrifty", names=people.names, k=8, prices=prices, budget_per_row=budget_per_row, seed=0)
        history = kh.play(learner, X, y, keep=False)
        bought = [people.names[j] for j in np.argsort(-history.bought)[:2]]
        money.append(float(history.price.mean()))
        error.append(float(np.sqrt(history.losses[1:].mean())))
        labels.append(f"at most {budget_per_row:g}")
        print(
            f"at most {budget_per_row:4g} a person: paid {money[-1]:5.1f}, "
            f"typical error {error[-1]:.1f} mmHg, mostly {bought}"
        )
    figure = scatter("Blood pressure: what money buys", np.array(money), np.array(error), "paid a person",
                     "typical error, mmHg", labels, joined=True)  # fmt: skip
    figure.save(folder / "pay_per_test.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))

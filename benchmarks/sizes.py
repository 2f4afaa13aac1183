"""How long `thrifty` takes for tables of several widths: the table of docs/faq.md.

python benchmarks/sizes.py

CPU time of `kh.play` on synthetic rows with k = 5, of which the first rows explore most; and the memory that
`keyhole algorithms --d D` states for a learner of that width.
"""

import time

import keyhole as kh

SIZES = ((20, 100_000), (100, 100_000), (1_000, 20_000), (10_000, 2_000), (100_000, 200))

if __name__ == "__main__":
    for d, T in SIZES:
        X, y, _ = kh.streams.synthetic(d=d, k=5, T=T, seed=0)
        learner = kh.make("thrifty", d=d, k=5, seed=0)
        before = time.process_time()
        kh.play(learner, X, y, keep=False)
        took = time.process_time() - before
        print(f"d {d:7,d}  rows {T:7,d}  {took:7.2f} s CPU  {1e6 * took / T:9.1f} us a row", flush=True)

"""Who lends: a cheap member, and not the one whose stand-in or whose double the guest may be."""

import numba
import numpy as np

import keyhole as kh
from keyhole.thrifty import book as at
from keyhole.thrifty.lending import hope


@numba.njit
def hope_of(b, j, v, u, slab, s):
    hope(b, j, v, u, slab, s)


def book(w):
    """Members 0, 1, 2 of unit variance with weights w, and candidate 3, known from 100 rows that show all of them."""
    b = kh.make("thrifty", d=6, k=3, seed=0).store.book()
    b.M[at.NOW], b.cnt[at.SIZE] = [0, 1, 2], 3
    b.idx[at.PLACE, :3] = [0, 1, 2]
    b.vec[at.NOW, at.W], b.vec[at.NOW, at.SD], b.vec[at.NOW, at.COND] = w, 1.0, 1.0
    b.inv[at.NOW, at.P] = np.eye(3)
    b.num[at.S2], b.num[at.ROWS] = 0.1, 1000.0
    b.at[3, [at.N_, at.ROW_, at.COUNT, at.ASKED]] = 100.0
    b.at[3, at.C], b.at[3, at.SE] = 0.4, 0.02
    b.pair[3, :, at.PN] = 100.0
    return b


def lender(b, u):
    hope_of(b, 3, 1.0, np.array(u), 0.3, 8.0)
    return int(b.idx[at.VICTIM, 3])


def test_the_cheapest_member_lends_to_a_guest_that_is_like_none():
    assert lender(book([0.5, 0.3, 0.4]), [0.0, 0.0, 0.0]) == 1


def test_the_member_that_the_guest_is_like_does_not_lend():
    assert lender(book([0.5, 0.3, 0.35]), [0.0, 0.8, 0.0]) == 2


def test_a_member_never_seen_with_the_guest_does_not_lend():
    b = book([0.5, 0.3, 0.35])
    b.pair[3, 1, at.PN] = 0.0
    assert lender(b, [0.0, 0.0, 0.0]) == 2


def test_a_possible_stand_in_gives_hope_and_evidence_takes_it():
    b = book([0.5, 0.3, 0.4])
    u = 0.8
    b.at[3, at.R] = 0.4 * 0.3 / u  # just what is left for 3 if 1 stands in for it
    lender(b, [0.0, u, 0.0])
    assert b.at[3, at.HOPE] > 0.0
    b.at[3, at.R] = 0.0  # 7 standard errors from that
    lender(b, [0.0, u, 0.0])
    assert b.at[3, at.HOPE] < 0.0

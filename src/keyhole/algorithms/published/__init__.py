"""Algorithms from other papers, with which the paper (Li, Liao, Xu and Nie, COLT 2025) is compared."""

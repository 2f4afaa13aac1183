"""The studies of the paper's claims: each consists of a grid of settings (TOML) and a function `judge` (Python), which
turns the results into a finding: a table, figures and a verdict on the claim.

T is the number of rounds, d that of attributes, k that of attributes bought per round (k0 more after the label), s that
of explorations, h(w*) the smallest true weight.
"""

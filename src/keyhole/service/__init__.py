"""HTTP on a store: the calls of machines under /v1, a page for people at /.

`settings` what a server is told, `app` puts it together, `guard` and `access` keep it safe, `problems` says what is
wrong; `learners`, `rounds`, `labels`, `exports`, `watching` and `metrics` are the calls; `pages`, `views` and
`pictures` are the page.
"""

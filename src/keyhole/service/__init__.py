"""HTTP on a store: an API under /v1 for programs, and pages at / for people.

`server` has the settings and the limits of the process, `app` the ASGI app, `security` its protection, `problems` its
errors and `schemas` its bodies; `routes`, `exports`, `event_stream` and `metrics` are the API, `ui` the pages, and
`client` is what `kh.connect` returns.
"""

"""The HTTP service on a store: an API under /v1 for programs, and pages at / for people.

`server` defines the settings and limits of the process, `app` the ASGI app, `security` its protection, `problems` its
errors and `schemas` its bodies. `routes`, `exports`, `event_stream` and `metrics` implement the API, `ui` the pages,
and `client` the object that `kh.connect` returns.
"""

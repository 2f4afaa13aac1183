"""HTTP on a store: an API under /v1 for programs, and pages at / for people.

`server_settings` has the settings, `app` the ASGI app, `security_middleware`, `connection_limits` and `auth` its
protection, `problems` its errors and `schemas` its bodies; `learner_routes`, `round_routes`, `label_upload`, `exports`,
`event_stream` and `metrics` are the API, `ui` the pages, and `client` is what `kh.connect` returns.
"""

"""`kh.connect(url)`: a running `keyhole serve`, with the interface of a store. Only the standard library."""

from .remote_store import Remote, RemoteLearner, connect

__all__ = ["Remote", "RemoteLearner", "connect"]

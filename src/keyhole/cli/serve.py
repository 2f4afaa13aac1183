"""`keyhole serve`: the HTTP service and its web page."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._early_checks import require_store

if TYPE_CHECKING:
    from ..store.store import Store


def serve(
    store: Annotated[
        str,
        typer.Option(
            help="sqlite:///file.db or postgresql://user@host/database; left out: keyhole.db in the current folder."
        ),
    ] = "",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")] = 8765,
    workers: Annotated[int, typer.Option(min=1, help="Processes that answer; several best on PostgreSQL.")] = 1,
    auth: Annotated[
        bool | None, typer.Option("--auth/--no-auth", help="Ask for tokens; left out: on any other than this machine.")
    ] = None,
    max_connections: Annotated[
        int, typer.Option(min=0, help="At once, in each process; 0: what its file descriptors allow.")
    ] = 0,
    request_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds in which a client must send a whole request.")
    ] = 10,
    max_learner_mb: Annotated[float, typer.Option(min=1, help="Refuse learners that need more memory.")] = 512,
    max_learner_seconds: Annotated[
        float, typer.Option(min=0.01, help="Refuse learners that are slower to build, or for one round.")
    ] = 5,
    model: Annotated[Path | None, typer.Option(help="Go live with this model.kh, of a plan or of a run.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="With the learner of keyhole demo, in runs/demo.")] = False,
) -> None:
    """Serve a store over HTTP, with a web page; use a proxy for TLS.

    Example: keyhole serve --store sqlite:///ward.db

    Example: keyhole serve --model runs/plan/model.kh
    """
    from ..errors import ConfigError

    if demo and store:
        raise ConfigError("--demo uses a store of its own; omit --store or --demo")
    if store:
        require_store(store)

    from ..service.server import Settings, is_loopback, run
    from ..store import open_store
    from ..store.tokens import any_token

    local = is_loopback(host)
    guarded = not local if auth is None else auth
    url = _demo_store() if demo else store or "sqlite:///keyhole.db"
    with open_store(url) as opened:
        if model is not None:
            _add_model(opened, model)
        if guarded and not any_token(opened.database):
            make = f"keyhole token create --store {opened.database.address}"
            raise ConfigError(f"{host} can be reached from elsewhere and the store has no token; make one with: {make}")
        settings = Settings(
            url,
            auth=guarded,
            local=local,
            supervisor=os.getpid() if workers > 1 else None,
            max_connections=max_connections,
            request_timeout=request_timeout,
            max_learner_memory=max_learner_mb,
            max_learner_seconds=max_learner_seconds,
        )
        run(settings, host, port, workers, _line(opened))


def _add_model(store: "Store", path: Path) -> None:
    """Add the learner of a model file to the store, named after its file or the folder of the plan."""
    from .._internal.formatting import join_names
    from ..errors import ConfigError
    from ..runs.run_config import read_model

    learner, scaling = read_model(path, target="label" if _has_no_note(path) else None)
    schema = scaling.schema
    if scaling.scaled or any(a.transform for a in schema.attributes) or schema.transforms_label:
        raise ConfigError(
            f"{path} was trained on scaled or transformed columns, which a page cannot ask for; use keyhole run --model"
        )
    if encoded := [a.name for a in schema.attributes if a.type != "number"]:
        raise ConfigError(
            f"{path} has columns that are not numbers ({join_names(encoded, quoted=True)}), and a page takes numbers "
            "only; use keyhole run --model, or plan with numbers in their place"
        )
    name = path.resolve().parent.name if path.stem == "model" else path.stem
    note = {"label": schema.target, "unit": schema.unit, "currency": schema.currency}
    store.create_from_model(name, path.read_bytes(), note={key: text for key, text in note.items() if text})
    print(f" learner '{name}': {learner.name}, past rows: {learner.n_past_rows}, free", flush=True)


def _has_no_note(path: Path) -> bool:
    from ..core.serialization import content_of, note_in
    from ..errors import StateError

    try:
        return path.is_file() and not note_in(content_of(path))
    except StateError:  # `read_model` says so with the name of the file
        return False


def _line(store: "Store") -> str:
    totals = [one.totals for one in store.summaries()]
    n, waiting = len(totals), sum(t.n_open for t in totals)
    return f"{n} learner{'' if n == 1 else 's'}, {waiting} open round{'' if waiting == 1 else 's'}"


def _demo_store() -> str:
    """Return the store of the demo; a new one is filled by playing the first people of NHANES."""
    from ..service.demo_store import fill

    folder = Path("runs")
    folder.mkdir(exist_ok=True)
    url = f"sqlite:///{folder / 'demo.db'}"
    fill(url, say=lambda text: print(f" {text}", file=sys.stderr, flush=True))
    return url

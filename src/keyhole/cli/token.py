"""`keyhole token`: access tokens for the service."""

import time
from typing import Annotated

import typer

app = typer.Typer(help="Tokens of a store: create, list, revoke.", no_args_is_help=True, rich_markup_mode=None)
_Store = Annotated[str, typer.Option("--store", help="sqlite:///file.db or postgresql://user@host/database")]


@app.command()
def create(
    store: _Store,
    learner: Annotated[str | None, typer.Option(help="For this learner only; left out: for all of them.")] = None,
    may: Annotated[str, typer.Option(help="Any of ask, tell, read, create, with commas.")] = "ask,tell,read",
) -> None:
    """Create a token and show it once: only a hash of it is stored.

    Example: keyhole token create --store sqlite:///ward.db --learner icu --may ask,tell,read
    """
    from ..store import open_store
    from ..store.tokens import create_token

    rights = tuple(part.strip() for part in may.split(",") if part.strip())
    with open_store(store) as opened:
        print(create_token(opened.database, learner, rights))


@app.command(name="list")
def list_(store: _Store) -> None:
    """List the tokens and their permissions.

    Example: keyhole token list --store sqlite:///ward.db
    """
    from ..store import open_store
    from ..store.tokens import list_tokens

    with open_store(store) as opened:
        for token in list_tokens(opened.database):
            made = time.strftime("%Y-%m-%d", time.gmtime(token.created_at))
            print(f" {token.id}  {made}  {token.learner or 'every learner'}  {','.join(token.may)}")


@app.command()
def revoke(store: _Store, id: Annotated[str, typer.Argument(help="As keyhole token list shows it.")]) -> None:
    """Revoke a token: it is no longer accepted.

    Example: keyhole token revoke --store sqlite:///ward.db 1f2e3d4c5b6a
    """
    from ..store import open_store
    from ..store.tokens import revoke_token

    with open_store(store) as opened:
        revoke_token(opened.database, id)
    print(f" {id} opens nothing any more")

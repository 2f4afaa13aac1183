"""The pages: server-rendered HTML, plain forms, and a script that refreshes them."""

import math
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import parse_qsl, quote

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from ... import __version__
from ...core.round import Round
from ...errors import ConfigError, ProtocolError
from ...report.page import environment
from ...store.models import Conflict, NoSuchRound
from ...store.store import StoredLearner
from ...store.tokens import find_token
from ..security import COOKIE, Opened, allowed, split, visible
from ..server import Settings
from . import view_models
from .charts import Pictures
from .past_rows_upload import form_fields, read_past_table

__all__ = ["router"]

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_pictures = Pictures()
_templates = environment("service")
_templates.filters |= {"number": view_models.number, "when": view_models.when, "quoted": lambda s: quote(s, safe="")}
_templates.tests["late"] = view_models.is_late
Form = Mapping[str, str]


@router.get("/")
async def home(request: Request, store: Opened) -> Response:
    """Show all learners."""

    def show() -> Response:
        seen = visible(request)
        return _page(request, "home.html", cards=[card for card in view_models.cards(store) if seen(card.name)])

    return await _for_people(request, show)


@router.get("/learners/{name}")
async def learner(request: Request, name: str, store: Opened) -> Response:
    """Show one learner."""

    def show() -> Response:
        _allow(request, "read", name)
        return _page(request, "learner.html", page=view_models.learner_page(store[name]), fault="", key="")

    return await _for_people(request, show)


@router.get("/learners/{name}/figures")
async def figures(request: Request, name: str, store: Opened) -> Response:
    """Return the figures of a learner, which are loaded separately because drawing takes time."""

    def show() -> Response:
        _allow(request, "read", name)
        return _page(request, "figures.html", name=name, drawn=_pictures.of(store[name]))

    return await _for_people(request, show)


@router.post("/learners/{name}/ask")
async def ask(request: Request, name: str, store: Opened) -> Response:
    """Open a round and redirect to its page."""
    form = await _form(request)

    def act() -> Response:
        _allow(request, "ask", name)
        key = form.get("key", "").strip() or None
        try:
            r = store[name].ask(key)
        except ProtocolError as fault:
            page = view_models.learner_page(store[name])
            return _page(request, "learner.html", 422, page=page, fault=str(fault), key=form.get("key", ""))
        return _to_round(r.id)

    return await _for_people(request, act)


@router.post("/learners/{name}/past_rows")
async def past_rows(request: Request, name: str, store: Opened) -> Response:
    """Preview an uploaded table of past rows, or learn from it once the user confirms."""
    content_type, body = request.headers.get("content-type", ""), await request.body()

    def act() -> Response:
        _allow(request, "tell", name)
        stored = store[name]
        names, binary = stored.read(lambda learner: (learner.names, learner.binary))
        form: Form = {}
        try:
            form = form_fields(content_type, body)
            text, label = form.get("table", "").lstrip("\r\n"), form.get("label", "").strip()
            table = read_past_table(text, names, label, binary)
            if form.get("learn") == "yes":
                stored.learn(table.rows, table.labels)
                return RedirectResponse(f"/learners/{quote(name, safe='')}", 303)
        except (ConfigError, ProtocolError) as fault:
            return _page(request, "past_rows.html", 422, name=name, fault=str(fault), table=None)
        columns = [*names, label]
        return _page(
            request, "past_rows.html", name=name, fault="", table=table, columns=columns, label=label, text=text
        )

    return await _for_people(request, act)


@router.get("/rounds/{id}")
async def round(request: Request, id: str, store: Opened) -> Response:
    """Show one round: what to order, the results, the prediction and the label."""

    def show() -> Response:
        name, index = split(id)
        _allow(request, "read", name)
        return _round(request, store[name], store[name].round(index))

    return await _for_people(request, show)


@router.post("/rounds/{id}/{act}")
async def change(request: Request, id: str, act: str, store: Opened) -> Response:
    """Apply the form of a round: results, a label, or abandonment."""
    form, (name, index) = await _form(request), split(id)
    action = _ACTIONS.get(act)

    def do() -> Response:
        if action is None:
            raise HTTPException(404, "there is no such page")
        _allow(request, "ask" if act == "values" else "tell", name)
        stored = store[name]
        r = stored.round(index)
        try:
            action(stored, r, form)
        except ProtocolError as fault:
            status = 409 if isinstance(fault, Conflict) else 422
            return _round(request, stored, stored.round(index), status, str(fault), form)
        return _to_round(id)

    return await _for_people(request, do)


@router.get("/login")
async def login(request: Request) -> Response:
    """Show the login page, which asks for a token."""
    return _page(request, "login.html", fault="")


@router.post("/login")
async def let_in(request: Request, store: Opened) -> Response:
    """Check the token and keep it in a cookie that no script can read and no other site can send."""
    token = (await _form(request)).get("token", "").strip()
    if await run_in_threadpool(find_token, store.database, token) is None:
        return _page(request, "login.html", 401, fault="This is not a token of this store.")
    answer = RedirectResponse("/", 303)
    secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
    answer.set_cookie(COOKIE, token, max_age=30 * 86400, httponly=True, samesite="strict", secure=secure)
    return answer


@router.post("/logout")
async def logout() -> Response:
    """Delete the cookie with the token."""
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE)
    return answer


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Show the documentation of the API, generated from the same document as /openapi.json."""
    document = request.app.openapi()
    calls = [
        (method.upper(), path, call) for path, methods in document["paths"].items() for method, call in methods.items()
    ]
    shapes, about = document["components"]["schemas"], document["info"]
    return _page(request, "docs.html", calls=calls, shapes=shapes, about=about)


# -- the actions of forms


def _values(stored: StoredLearner, r: Round, form: Form) -> None:
    stored.predict_interval(r.index, _numbers(form, "v", r.names))


def _label(stored: StoredLearner, r: Round, form: Form) -> None:
    y = view_models.typed(form.get("y", ""))
    if y is None or math.isnan(y):
        raise ProtocolError("The label must be a number.")
    extra = _numbers(form, "e", r.extra_names) if r.extra.size else None
    values = None if r.values is not None else _numbers(form, "v", r.names)
    stored.tell(r.index, values, y, extra_values=extra)


def _abandon(stored: StoredLearner, r: Round, form: Form) -> None:
    stored.abandon(r.index)


_ACTIONS: dict[str, Callable[[StoredLearner, Round, Form], None]] = {
    "values": _values,
    "label": _label,
    "abandon": _abandon,
}


def _numbers(form: Form, prefix: str, names: Sequence[str]) -> dict[str, float]:
    """Parse the numbers typed for these names, in the order of the fields."""
    found = {}
    for i, name in enumerate(names):
        value = view_models.typed(form.get(f"{prefix}{i}", ""))
        if value is None:
            raise ProtocolError(f"{name}: '{form[f'{prefix}{i}'][:40]}' is not a number.")
        found[name] = value
    return found


# -- answers


def _round(
    request: Request,
    stored: StoredLearner,
    r: Round,
    status: int = 200,
    fault: str = "",
    form: Form | None = None,
) -> Response:
    given = {name: (form or {}).get(f"v{i}", "") for i, name in enumerate(r.names)}
    used = form is not None and any(key.startswith("v") for key in form)
    ranges = view_models.usual_ranges(stored)
    fields = view_models.fields(r, given if used else None, ranges)
    extra = [view_models.Field(name, (form or {}).get(f"e{i}", "")) for i, name in enumerate(r.extra_names)]
    y = (form or {}).get("y", "")
    more = {"r": r, "fields": fields, "extra": extra, "fault": fault, "y": y, "name": stored.name}
    more |= {"doubtful": view_models.doubtful(r, ranges), "decimals": view_models.label_decimals(stored)}
    return _page(request, "round.html", status, note=stored.note, head=stored.head, **more)


def _page(request: Request, template: str, status: int = 200, **content: object) -> HTMLResponse:
    settings: Settings = request.app.state.settings
    text = _templates.get_template(template).render(version=__version__, auth=settings.auth, **content)
    return HTMLResponse(text, status)


def _to_round(id: str) -> Response:
    return RedirectResponse(f"/rounds/{quote(id, safe='')}", 303)


def _allow(request: Request, right: str, name: str) -> None:
    settings: Settings = request.app.state.settings
    if settings.auth:
        allowed(request, right, name)


async def _for_people(request: Request, show: Callable[[], Response]) -> Response:
    """Run `show` in a thread; show errors on a page, and send a caller without a token to the login page."""
    try:
        return await run_in_threadpool(show)
    except HTTPException as fault:
        if fault.status_code == 401:
            return RedirectResponse("/login", 303)
        return _page(request, "fault.html", fault.status_code, fault=fault.detail)
    except (KeyError, NoSuchRound) as fault:
        return _page(request, "fault.html", 404, fault=str(fault))


async def _form(request: Request) -> dict[str, str]:
    """Parse the fields of a form, as browsers send them."""
    text = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=5000))
    except ValueError:
        return {}

// Keeps a page fresh: when something was written, the page is fetched again and its parts are put in place.
"use strict";

const body = document.body;
let stale = false, busy = false;

async function refresh() {
  if (busy) { stale = true; return; }
  busy = true;
  stale = false;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-part]")) {
        const next = fresh.getElementById(part.id);
        if (next && next.innerHTML !== part.innerHTML && !part.contains(document.activeElement)) {
          part.replaceChildren(...next.childNodes);
        }
      }
      leaveToldForms(fresh);
    }
  } catch (fault) {
    stale = true; // the server is away; the next event says that it is back
  }
  busy = false;
  draw();
  if (stale) setTimeout(refresh, 1000);
}

// Somebody else recorded the label of this round: its forms have nothing left to do.
function leaveToldForms(fresh) {
  if (body.dataset.round && fresh.getElementById("h-labelled")) {
    for (const id of ["h-values", "h-label"]) document.getElementById(id)?.closest("section").remove();
  }
}

// Figures take a moment to draw, so they come after the page.
let drawn = 0, drawing = false;
async function draw() {
  const place = document.querySelector("[data-src]");
  if (!place || drawing) return;
  const wait = drawn + 5000 - Date.now();
  drawing = true;
  if (drawn && wait > 0) await new Promise((done) => setTimeout(done, wait));
  try {
    const answer = await fetch(place.dataset.src, { headers: { Accept: "text/html" } });
    const open = [...place.querySelectorAll("details")].map((one) => one.open);
    if (answer.ok && !place.contains(document.activeElement)) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      place.replaceChildren(...fresh.body.childNodes);
      place.querySelectorAll("details").forEach((one, i) => { one.open = open[i] || false; });
    }
  } catch (fault) { /* the server is away; the next change draws */ }
  drawn = Date.now();
  drawing = false;
}

if (body.dataset.events) {
  let source, soon = 0, seen = false;
  const changed = () => { clearTimeout(soon); soon = setTimeout(refresh, 150); };
  const listen = () => {
    source = new EventSource(body.dataset.events);
    source.addEventListener("event", changed);
    source.addEventListener("change", changed);
    source.addEventListener("open", () => { if (seen) refresh(); seen = true; });
    // A browser calls again after a stream has ended, but not after a refusal, such as 503 while the store is away.
    source.addEventListener("error", () => { if (source.readyState === EventSource.CLOSED) setTimeout(listen, 5000); });
  };
  listen();
  addEventListener("pagehide", () => source.close());
}
draw();

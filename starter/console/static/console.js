// What pages do beyond links and forms: they stay current, and the inbox can be worked with the keyboard. Everything
// works without this file too, by reloading.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const csrf = $("meta[name=csrf]")?.content;
const decides = document.body.dataset.decides === "true";

function say(text) {
  const line = document.createElement("p");
  line.textContent = text;
  $("#news").append(line);
  setTimeout(() => line.remove(), 8000);
}

// Times.

function span(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
  return `${Math.floor(seconds / 86400)} days`;
}

function tellTimes() {
  for (const time of $$("time[data-ms]")) {
    const away = (Number(time.dataset.ms) - Date.now()) / 1000;
    time.textContent = away > 0 ? `in ${span(away)}` : `${span(-away)} ago`;
  }
}
setInterval(tellTimes, 10000);

// Live updates. A burst of events leads to one request at a time.

function coalesce(work) {
  let running = false, again = false;
  return async () => {
    if (running) { again = true; return; }
    running = true;
    do { again = false; try { await work(); } catch { /* the next event tries again */ } } while (again);
    running = false;
  };
}

async function part(url) {
  const answer = await fetch(url, { headers: { "X-Requested-With": "console" } });
  if (answer.status === 401) { location.reload(); return null; }
  if (!answer.ok) return null;
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

const held = () => holding ? new Promise((go) => { afterHold.push(go); }) : null;
let holding = false;
const afterHold = [];
addEventListener("pointerdown", () => { holding = true; }, true);
for (const end of ["pointerup", "pointercancel", "blur"]) addEventListener(end, () => setTimeout(() => { holding = false; afterHold.splice(0).forEach((go) => go()); }, 0), true);

// keepCards puts cards that are there already in the place of those that are the same: they stay as they are, with what
// is selected, sorted and unfolded, and a button under the pointer stays that button.
function keepCards(fresh) {
  const known = new Map(cardsNow().map((card) => [card.dataset.key, card]));
  for (const card of $$("#cards > .card", fresh)) {
    const mine = known.get(card.dataset.key);
    if (mine && mine.dataset.print === card.dataset.print && !mine.classList.contains("sent")) card.replaceWith(mine);
    else if (mine) choose(card, $$("input[name=item]:checked", mine).map((box) => box.value));
  }
}

function choose(card, keys) {
  for (const box of $$("input[name=item]", card)) box.checked = keys.includes(box.value);
}

// replace shows what is new in a part of the page. Who had the focus keeps it, or has what stands in its place.
function replace(root, fresh) {
  const focus = root.contains(document.activeElement) ? document.activeElement : null;
  const at = cardsNow().findIndex((card) => card.contains(focus)), id = focus?.closest("[id]")?.id;
  const open = $$("details[open][id]", root).map((details) => details.id);
  keepCards(fresh);
  root.replaceChildren(...fresh.body.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focus) {
    const cards = cardsNow(), same = id && document.getElementById(id);
    const target = focus.isConnected ? focus : at >= 0 ? cards[Math.min(at, cards.length - 1)] : same?.querySelector("summary") ?? same;
    (target ?? $("#main")).focus({ preventScroll: focus.isConnected || at < 0 });
  }
  tellSelection();
  tellTimes();
}

let newest = 0; // when the newest call began to wait that was seen
const seen = () => Math.max(newest, ...cardsNow().map((card) => Number(card.dataset.newest)));

const refreshInbox = coalesce(async () => {
  const fresh = await part("/inbox" + location.search);
  if (!fresh) return;
  await held();
  const before = seen(), any = cardsNow().length > 0;
  replace($("#list"), fresh);
  const added = cardsNow().filter((card) => Number(card.dataset.newest) > before).length;
  newest = seen();
  if (added && any) say(added === 1 ? "Something new waits" : `${added} new cards wait`);
});

const refreshRecord = coalesce(async () => {
  const fresh = await part(location.pathname + "?part=1");
  if (!fresh) return;
  await held();
  replace($("#record"), fresh);
});

// One stream serves all pages of a browser.
function listen() {
  const execution = $("#record")?.dataset.live ?? "", hello = { execution };
  let version = Number($("#sum")?.dataset.version ?? -1), events = Number($("#record")?.dataset.events);
  const hear = (news) => {
    if (news.kind === "execution" && news.execution === execution) {
      if (news.events !== events) refreshRecord();
      events = news.events;
    }
    if (news.kind !== "inbox") return;
    const count = $("#count");
    count.textContent = news.pending;
    count.hidden = !news.pending;
    document.title = document.title.replace(/^(\(\d+\) )?/, news.pending ? `(${news.pending}) ` : "");
    if ($("#list") && news.version !== version) { version = news.version; refreshInbox(); }
  };
  let send;
  const address = document.querySelector("meta[name=stream]").content;
  if (globalThis.SharedWorker) {
    const { port } = new SharedWorker(address);
    port.onmessage = (event) => hear(event.data);
    send = (message) => port.postMessage(message);
  } else {
    const port = { postMessage: hear };
    const loaded = new Promise((done) => { const script = Object.assign(document.createElement("script"), { src: address, onload: done }); document.head.append(script); });
    send = (message) => loaded.then(() => globalThis.codemodeStream.follow(port, message));
    // Each page has a stream of its own then: one that nobody looks at gives its place.
    document.addEventListener("visibilitychange", () => send(document.hidden ? { leave: true } : hello));
  }
  send(hello);
  addEventListener("pagehide", () => send({ leave: true }));
  addEventListener("pageshow", (event) => { if (event.persisted) send(hello); });
}

// Deciding.

const cardsNow = () => $$("#cards > .card");
const boxesOf = (root) => $$("input[name=item]", root);
const chosen = () => $$("#cards input[name=item]:checked");
const current = () => document.activeElement?.closest?.("#cards > .card");

function tellSelection() {
  const n = chosen().length;
  if ($("#selected")) $("#selected").textContent = n ? `${n} selected` : "Nothing is selected";
  for (const button of $$("[data-of=chosen]")) button.disabled = !n;
  $("#tray")?.classList.toggle("none", !n);
  for (const group of $$(".group")) tellGroup(group);
}

// The buttons of a table say what they are about: the rows that are selected, or what they were made for.
function tellGroup(group) {
  const boxes = boxesOf(group), n = boxes.filter((box) => box.checked).length, all = $(".pick-all", group);
  if (all) { all.checked = n === boxes.length; all.indeterminate = n > 0 && n < boxes.length; }
  for (const button of $$("[data-of=group], [data-of=rest]", group)) {
    button.dataset.text ??= button.textContent;
    button.dataset.label ??= button.getAttribute("aria-label");
    const word = button.dataset.act === "reject" ? "Reject" : "Approve";
    button.textContent = n ? `${word} ${n} selected` : button.dataset.text;
    button.setAttribute("aria-label", n ? `${word} ${n} selected: ${button.dataset.label.split(": ")[1]}` : button.dataset.label);
    button.hidden = n > 0 && button.dataset.of === "group" && Boolean($("[data-of=rest]", group)) && button.dataset.act === "approve";
  }
}

// about lists what a button asks about.
function about(button) {
  const group = button.closest(".group");
  if (button.value.includes(" ")) return [button.value.split(" ")[1]];
  if (!group || button.dataset.of === "chosen") return chosen().map((box) => box.value);
  const boxes = boxesOf(group), some = boxes.filter((box) => box.checked);
  if (some.length) return some.map((box) => box.value);
  return boxes.filter((box) => button.dataset.of !== "rest" || !box.closest("tr.odd")).map((box) => box.value);
}

// ask shows what is about to be done: the page that /ask makes, as a dialog.
async function ask(action, items, back) {
  if (!decides || !items.length) return;
  const body = new URLSearchParams({ csrf, ask: action, next: location.pathname });
  for (const item of items) body.append("item", item);
  let question;
  try {
    const answer = await fetch("/ask", { method: "POST", body, headers: { "X-Requested-With": "console" } });
    if (answer.status === 401) return ended();
    question = await answer.text();
    if (!answer.ok) { say(new DOMParser().parseFromString(question, "text/html").querySelector(".problem")?.innerText ?? `The console answered ${answer.status}`); return; }
  } catch { say("The console does not answer: nothing was decided."); return; }
  const dialog = $("#ask");
  dialog.innerHTML = "";
  dialog.append(...new DOMParser().parseFromString(question, "text/html").body.childNodes);
  dialog.showModal();
  (action === "approve" || action === "retry" ? $("#ask-yes") ?? $("#ask-back") : $("#ask-note") ?? $("#ask-back")).focus();
  dialog.onclose = () => { if (back?.isConnected) back.focus({ preventScroll: true }); };
}

function ended() {
  say("Nothing was decided: your session has ended. Reload the page to sign in.");
}

// decide sends a form of decisions and shows what came of it. The page stays.
async function decide(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter)), items = body.getAll("item");
  const sent = cardsNow().filter((card) => boxesOf(card).some((box) => items.includes(box.value)) || items.includes(card.dataset.key));
  const next = cardsNow().filter((card) => !sent.includes(card))[Math.max(0, Math.min(cardsNow().indexOf(sent[0]), cardsNow().length - sent.length - 1))];
  for (const card of sent) card.classList.add("sent");
  const busy = $("#ask-yes", form) ?? submitter;
  if (busy) { busy.disabled = true; busy.textContent = "Sending…"; }
  let text;
  try {
    const answer = await fetch("/decide", { method: "POST", body, headers: { "X-Requested-With": "console" } });
    text = await answer.text();
    if (answer.status === 401) ended();
    else if (!answer.ok) say(`Nothing is known to be done: the console answered ${answer.status}.`);
    if (!answer.ok) text = "";
  } catch { say("The console did not answer: it is not known what was done."); }
  $("#ask").close();
  if (!text) { sent.forEach((card) => card.classList.remove("sent")); return false; }
  const told = new DOMParser().parseFromString(text, "text/html").body;
  const good = told.querySelector(".good") !== null;
  $("#told").prepend(...told.childNodes);
  while ($("#told").childElementCount > 6) $("#told").lastElementChild.remove();
  for (const box of sent.flatMap(boxesOf)) if (items.includes(box.value)) box.checked = false;
  (next ?? $("#main")).focus({ preventScroll: true });
  followAll();
  if ($("#list")) await refreshInbox();
  if ($("#record")) await refreshRecord();
  return good;
}

// What was decided goes on: the page tells of it until there is nothing more to tell.
function followAll() {
  for (const line of $$(".telling[data-follow]")) {
    const address = line.dataset.follow;
    delete line.dataset.follow;
    follow(line, address, 400);
  }
}

async function follow(line, address, pause) {
  if (!line.isConnected) return;
  try {
    const fresh = await part(address);
    if (fresh) $(".next", line).replaceChildren(...fresh.body.childNodes);
    if ($("[data-done]", line)) return;
  } catch { /* asked again */ }
  setTimeout(() => follow(line, address, Math.min(2 * pause, 10000)), pause);
}

// act is what a key asks for: about what is selected, or the card at hand.
function act(action) {
  const button = current() && $$(`[data-act="${action}"]`, current()).findLast((button) => !button.hidden);
  if (chosen().length) ask(action, chosen().map((box) => box.value), document.activeElement);
  else if (button) ask(action, about(button), current());
}

function move(step) {
  const cards = cardsNow(), at = cards.indexOf(current());
  const card = cards[at < 0 ? 0 : Math.max(0, Math.min(cards.length - 1, at + step))];
  card?.focus();
  card?.scrollIntoView({ block: "nearest" });
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  x: () => { const boxes = boxesOf(document.activeElement?.closest?.("tr") ?? current() ?? document.createElement("i")), all = boxes.every((box) => box.checked); boxes.forEach((box) => { box.checked = !all; }); tellSelection(); },
  "*": () => { const boxes = $$("#cards input[name=item]"), all = boxes.every((box) => box.checked); boxes.forEach((box) => { box.checked = !all; }); tellSelection(); },
  a: () => act("approve"),
  r: () => act("reject"),
  e: () => $(".edit", current() ?? document.createElement("i"))?.click(),
  o: () => { if (current()) location.href = current().dataset.execution; },
  "/": () => $("#q")?.focus(),
  "?": () => $("#help")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (!$("#help") || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = keysOn() || event.key === "?" ? keys[event.key] : null;
  if (act) { event.preventDefault(); act(); }
});

// Who speaks to the computer may not want keys that act by themselves.
const keysOn = () => localStorage.getItem("keys") !== "off";
if ($("#keys-on")) $("#keys-on").checked = keysOn();

document.addEventListener("click", (event) => {
  const open = event.target.closest("[data-open]"), sort = event.target.closest(".sort");
  if (open) document.getElementById(open.dataset.open).showModal();
  if (sort) sortRows(sort);
  if (event.target.closest("#ask-back") && $("#ask").open) { event.preventDefault(); $("#ask").close(); }
});

// sortRows sorts a table by a column, and the other way when that is asked again.
function sortRows(button) {
  const head = button.closest("th"), table = head.closest("table");
  const at = [...head.parentElement.children].indexOf(head), falls = head.getAttribute("aria-sort") === "ascending";
  const value = (row) => row.children[at].dataset.v ?? "";
  const compare = button.dataset.number ? (a, b) => Number(value(a)) - Number(value(b)) : (a, b) => value(a).localeCompare(value(b), undefined, { numeric: true });
  const rows = [...table.tBodies[0].rows].sort((a, b) => falls ? compare(b, a) : compare(a, b));
  for (const other of $$("th[aria-sort]", table)) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", falls ? "descending" : "ascending");
  table.tBodies[0].append(...rows);
}

document.addEventListener("change", (event) => {
  if (event.target.id === "keys-on") localStorage.setItem("keys", event.target.checked ? "on" : "off");
  if (event.target.matches(".pick-all")) for (const box of boxesOf(event.target.closest(".group"))) box.checked = event.target.checked;
  if (event.target.matches(".pick-all, [name=item]")) tellSelection();
});

document.addEventListener("submit", async (event) => {
  const form = event.target, action = form.getAttribute("action");
  if (action === "/ask" && event.submitter) {
    event.preventDefault();
    ask(event.submitter.value.split(" ")[0], about(event.submitter), event.submitter);
  }
  if (action === "/decide") {
    event.preventDefault();
    const button = event.submitter, word = button?.textContent;
    const good = await decide(form, button);
    if (button?.isConnected) { button.disabled = false; button.textContent = word; }
    if (good && form.dataset.gone) for (const part of $$(form.dataset.gone)) part.remove();
  }
});

// A link to a call opens it.
function unfold() {
  const details = location.hash && document.getElementById(location.hash.slice(1))?.querySelector("details");
  if (details) details.open = true;
}
addEventListener("hashchange", unfold);

for (const button of $$(".keys")) button.hidden = false;
$("#problem")?.focus();
unfold();
tellTimes();
tellSelection();
newest = seen();
followAll();
if (csrf) listen();

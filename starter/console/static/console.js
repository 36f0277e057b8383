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

const refreshInbox = coalesce(async () => {
  const fresh = await part("/inbox" + location.search);
  if (fresh) placeInbox(fresh);
});

// placeInbox takes over what is new. Cards that are there already stay as they are, with what is selected and unfolded.
function placeInbox(fresh) {
  const list = $("#list"), old = $("#cards"), before = $$(".card", old);
  const at = before.findIndex((card) => card.contains(document.activeElement));
  const known = new Map(before.map((card) => [card.dataset.key, card]));
  const cards = $$("#cards > .card", fresh).map((card) => {
    const mine = known.get(card.dataset.key);
    return mine && mine.dataset.print === card.dataset.print && !mine.classList.contains("sent") ? mine : card;
  });
  const hadFocus = at >= 0 ? document.activeElement : null;
  $("#cards", fresh).replaceChildren(...cards);
  list.replaceChildren(...fresh.body.childNodes);
  if (hadFocus) {
    const target = hadFocus.isConnected ? hadFocus : cards[Math.min(at, cards.length - 1)] ?? $("#main");
    target.focus({ preventScroll: hadFocus.isConnected });
  }
  const added = cards.filter((card) => !known.has(card.dataset.key)).length;
  if (added && known.size) say(added === 1 ? "1 new call waits" : `${added} new calls wait`);
  tellSelection();
  tellTimes();
}

const refreshRecord = coalesce(async () => {
  const record = $("#record");
  if (record.contains(document.activeElement) && document.activeElement.matches("input, textarea")) { stale = true; return; }
  const fresh = await part(location.pathname + "?part=1");
  if (!fresh) return;
  const open = $$("details[open][id]", record).map((details) => details.id);
  const focused = document.activeElement?.closest?.("[id]")?.id;
  record.replaceChildren(...fresh.body.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) (document.getElementById(focused)?.querySelector("summary") ?? document.getElementById(focused))?.focus?.({ preventScroll: true });
  tellTimes();
});
let stale = false;
document.addEventListener("focusout", () => { if (stale) { stale = false; setTimeout(refreshRecord, 0); } });

function listen() {
  const live = $("[data-live]");
  const inbox = new EventSource("/events");
  let version = Number($("#sum")?.dataset.version ?? -1);
  inbox.addEventListener("inbox", (event) => {
    const now = JSON.parse(event.data), count = $("#count");
    count.textContent = now.pending;
    count.hidden = !now.pending;
    document.title = document.title.replace(/^(\(\d+\) )?/, now.pending ? `(${now.pending}) ` : "");
    if ($("#list") && now.version !== version) { version = now.version; refreshInbox(); }
  });
  if (!live || live.id !== "record") return;
  let first = true;
  new EventSource(live.dataset.live).addEventListener("execution", () => { if (!first) refreshRecord(); first = false; });
}

// Deciding.

const cardsNow = () => $$("#cards > .card");
const chosen = () => $$("#cards input[name=item]:checked").map((box) => box.closest(".card"));
const current = () => document.activeElement?.closest?.("#cards > .card");

function tellSelection() {
  const text = $("#selected");
  if (!text) return;
  const n = chosen().length;
  text.textContent = n ? `${n} selected` : "Nothing is selected";
  for (const button of $$("#tray button")) button.disabled = !n;
  $("#tray").classList.toggle("none", !n);
}

const words = { approve: ["Approve", "approved"], reject: ["Reject", "rejected"], retry: ["Make again", "made again"] };

// ask shows what is about to be done. It resolves to null when that is called off.
function ask(action, cards) {
  const dialog = $("#ask"), yes = $("#ask-yes"), word = words[action][0];
  $("#ask-title").textContent = cards.length === 1 ? `${word} ${cards[0].dataset.name}?` : `${word} ${cards.length} calls?`;
  $("#ask-list").replaceChildren(...cards.map((card) => {
    const item = document.createElement("li");
    const args = $$(".args dt", card).map((dt) => `${dt.textContent}: ${dt.nextElementSibling.innerText.slice(0, 120)}`);
    item.textContent = `${card.dataset.name} ${args.slice(0, 4).join(", ")}`;
    return item;
  }));
  $("#ask-label").textContent = action === "reject" ? "Reason (for the record and the program)" : "Note (for the record)";
  $("#ask-continue").hidden = action !== "reject";
  $("#ask-always").hidden = action !== "approve";
  $("#ask-all").checked = false;
  $("#ask-go-on").checked = false;
  $("#ask-note").value = $("#note")?.value ?? "";
  yes.textContent = cards.length === 1 ? word : `${word} ${cards.length} calls`;
  yes.className = action === "reject" ? "no" : "yes";
  dialog.returnValue = "";
  dialog.showModal();
  (action === "reject" ? $("#ask-note") : yes).focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? { note: $("#ask-note").value, goOn: $("#ask-go-on").checked, always: $("#ask-all").checked } : null), { once: true });
  });
}

async function decide(action, cards, { note, goOn, always }) {
  const body = new URLSearchParams({ csrf, action, note });
  if (goOn) body.set("continue", "1");
  if (always) body.set("always", "1");
  for (const card of cards) { body.append("item", card.dataset.key); card.classList.add("sent"); }
  let results;
  try {
    const answer = await fetch("/decide", { method: "POST", body, headers: { Accept: "application/json", "X-Requested-With": "console" } });
    if (!answer.ok) throw new Error(answer.status === 401 ? "your session has ended: reload the page" : `the console answered ${answer.status}`);
    results = (await answer.json()).results;
  } catch (error) {
    say(`Nothing is known to be done: ${error.message}`);
    cards.forEach((card) => card.classList.remove("sent"));
    return;
  }
  const done = results.filter((result) => result.accepted).length, word = words[action][1];
  if (done) say(done === 1 ? `1 call ${word}` : `${done} calls ${word}`);
  for (const result of results.filter((result) => !result.accepted).slice(0, 3)) say(`Not ${word}: ${result.error}`);
  if ($("#note")) $("#note").value = "";
  cards.forEach((card) => { const box = $("input[name=item]", card); if (box) box.checked = false; });
  await refreshInbox();
}

async function confirmed(action, cards) {
  if (!decides || !cards.length) return;
  const fit = cards.filter((card) => action === "reject" || card.dataset.asks === (action === "approve" ? "approval" : "unknown"));
  if (fit.length < cards.length) say(`${cards.length - fit.length} of these cannot be decided that way: open them`);
  cards = fit;
  if (!cards.length) return;
  const from = cardsNow().indexOf(cards[0]);
  const answer = await ask(action, cards);
  if (!answer) { cards[0].focus(); return; }
  const next = cardsNow().filter((card) => !cards.includes(card))[Math.max(0, Math.min(from, cardsNow().length - cards.length - 1))];
  next?.focus();
  await decide(action, cards, answer);
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
  x: () => { const box = current() && $("input[name=item]", current()); if (box) { box.checked = !box.checked; tellSelection(); } },
  "*": () => { const boxes = $$("#cards input[name=item]"), all = boxes.every((box) => box.checked); boxes.forEach((box) => { box.checked = !all; }); tellSelection(); },
  a: () => confirmed("approve", chosen().length ? chosen() : [current()].filter(Boolean)),
  r: () => confirmed("reject", chosen().length ? chosen() : [current()].filter(Boolean)),
  e: () => $(".edit", current() ?? document.createElement("i"))?.click(),
  o: () => { if (current()) location.href = current().dataset.execution; },
  "/": () => $("#q")?.focus(),
  "?": () => $("#help")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (!$("#list") || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});

document.addEventListener("click", (event) => {
  const act = event.target.closest("[data-act]"), open = event.target.closest("[data-open]");
  if (act) confirmed(act.dataset.act, [act.closest(".card")]);
  if (open) document.getElementById(open.dataset.open).showModal();
});

document.addEventListener("change", (event) => { if (event.target.name === "item") tellSelection(); });

document.addEventListener("submit", (event) => {
  if (event.target.id === "batch") {
    event.preventDefault();
    if (event.submitter) confirmed(event.submitter.value, chosen());
  }
  if (event.target.dataset.sure && !confirm(event.target.dataset.sure)) event.preventDefault();
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
if (csrf) listen();

// One stream of events for all pages of a browser: browsers keep few connections to one host, and each page that held
// one of its own would take a place from the next. It serves as a shared worker, and as a part of the page in browsers
// that have none.
"use strict";

const ports = new Map(); // of each page, the execution that it follows, or ""
let source = null, address = "";

function hear(port, message) {
  if (message.leave) ports.delete(port);
  else ports.set(port, message.execution ?? "");
  listen();
}

// listen opens the stream anew where the executions that are followed are others.
function listen() {
  const followed = [...new Set(ports.values())].filter(Boolean);
  const wanted = ports.size ? "/events?" + new URLSearchParams(followed.map((name) => ["execution", name])) : "";
  if (wanted === address && source?.readyState !== 2) return;
  source?.close();
  source = null;
  address = wanted;
  if (!wanted) return;
  source = new EventSource(wanted);
  for (const kind of ["inbox", "execution"]) source.addEventListener(kind, (event) => tell({ kind, ...JSON.parse(event.data) }));
  source.addEventListener("error", () => tell({ kind: "silence" }));
}

function tell(news) {
  for (const port of ports.keys()) port.postMessage(news);
}

if (globalThis.SharedWorkerGlobalScope) {
  addEventListener("connect", ({ ports: [port] }) => { port.onmessage = (event) => hear(port, event.data); });
} else {
  globalThis.codemodeStream = { follow: hear };
}

// The purchases of this visit, each a stub with the steps that it has passed.
import { Problem, call, callUntilAnswered, load as loadPart, newKey } from "./api.js";
import { titleOf } from "./shelf.js";
import { element, failures, find, money, refunded, size } from "./text.js";

const steps = ["purchasing", "purchased", "delivered", "finished"];
const rowsMax = 50;
/** The most purchases that are shown unfinished; an account may have a million of them. */
const unfinishedMax = 200;
/** The most that are finished at once: a browser has six connections to a server. */
const finishingMax = 3;
let rows = new Map();
let onChange = () => {};
let onFull = () => {};
let hasControls = false;
/** The rows that are ready and wait for their turn. */
const waiting = new Set();
let finishing = 0;
/** Whether the store has purchases that are not shown. */
let isFull = false;

/** Sets what is told after each change of what the buyer may own. */
export function onOwnedChange(tell) { onChange = tell; }

/** Sets what is told to stop the queue while the page is full, and to read it again afterwards. */
export function onQueueFull(tell) { onFull = tell; }

/** Forgets the buyer before. */
export function clearPurchases(mayControl) {
  hasControls = mayControl;
  waiting.clear();
  showWhetherFull(false);
  for (const row of rows.values()) forget(row);
  rows = new Map();
  find("queue").replaceChildren();
  find("queue-empty").hidden = false;
}

function showWhetherFull(isIt) {
  isFull = isIt;
  find("queue-more").hidden = !isIt;
}

/** Leaves a change out because there is no room; it is read again once some are finished. */
function leaveOut() {
  showWhetherFull(true);
  if (finishing) onFull(true);
}

const hasRoom = () => rows.size < unfinishedMax || [...rows.values()].filter((row) => !row.isFinished).length < unfinishedMax;

/** Takes a change; an older one than what is shown changes nothing. What the buyer has just bought always has room. */
export function take(change, isRemoved = false, isJustBought = false) {
  const { id } = change.transaction;
  if (!rows.has(id) && !isRemoved && !isJustBought && !hasRoom()) return leaveOut();
  const row = rows.get(id) ?? makeRow(id);
  const isOlder = row.change && (change.transaction.version < row.change.transaction.version
    || (change.revision ?? 0) < (row.change.revision ?? 0));
  if (isOlder && !isRemoved) return;
  if (!rows.has(id)) {
    rows.set(id, row);
    find("queue").prepend(row.item);
    find("queue-empty").hidden = true;
    drop();
  }
  row.change = change;
  row.isFinished ||= isRemoved || Boolean(change.finishedAt);
  for (const step of passed(row)) {
    if (!row.passed.has(step)) row.passed.set(step, performance.now() - row.seen);
  }
  if (change.transaction.state !== "purchasing") row.bank = undefined;
  else row.timer ??= setTimeout(() => watchBank(row), 700);
  show(row);
  onChange();
  finishIfReady(row);
}

/** Lets the buyer be led to the bank, if a payment takes longer than most. */
async function watchBank(row) {
  const part = await loadPart("./bank.js");
  if (part) part.watch(row, show);
  else if (!row.isForgotten) row.timer = setTimeout(() => watchBank(row), 2000);
}

/** Brings the newest purchase into view, which is far down on a phone. */
export function lookAtNewest() {
  find("queue").firstElementChild?.scrollIntoView({ block: "nearest" });
}

// A row is only changed, so that nobody loses the button they are about to press.
function makeRow(id) {
  const parts = {
    title: element("strong", { dir: "auto" }),
    price: element("span", { class: "price" }),
    steps: element("ol", { class: "steps", "aria-label": "Steps" }, ...steps.map((step) =>
      element("li", { "data-step": step }, element("span", {}, step), element("span", { class: "span" })))),
    words: element("p", {}),
    bar: element("progress", { hidden: true, "aria-label": "Download" }),
    acts: element("p", { class: "acts" }),
  };
  return {
    parts, seen: performance.now(), passed: new Map(), files: new Map(),
    item: element("li", { "data-id": id, tabindex: "-1" },
      element("p", { class: "head" }, parts.title, parts.price), parts.steps, parts.words, parts.bar, parts.acts),
  };
}

function drop() {
  for (const [id, row] of rows) {
    if (rows.size <= rowsMax) return;
    if (!row.isFinished) continue;
    row.item.remove();
    forget(row);
    rows.delete(id);
  }
}

function forget(row) {
  row.isForgotten = true;
  clearTimeout(row.timer);
  for (const file of row.files.values()) URL.revokeObjectURL(file);
}

function passed({ change, isFinished }) {
  const { state } = change.transaction;
  const isBought = state === "purchased" || state === "restored";
  const found = ["purchasing"];
  if (isBought) found.push("purchased");
  if (isBought && (change.isDelivered || isFinished)) found.push("delivered");
  if (isFinished) found.push("finished");
  return found;
}

function words({ change, isFinished, isResumed, verdict, trouble, loaded, bank }) {
  const { state, failureReason, revokedAt, reason } = change.transaction;
  if (trouble) return trouble;
  if (revokedAt) return "Refunded: this is no longer yours.";
  if (isResumed) return "It was resumed: another purchase takes its place.";
  switch (state) {
    case "failed": return `${failures[failureReason] ?? "It failed."} `
      + (refunded.includes(failureReason) ? "If it was charged, the money is given back." : "Nothing was charged.");
    case "deferred": return "Waiting for approval. Nothing is charged before that.";
    case "purchased": case "restored":
      if (verdict && !verdict.isVerified) return `The receipt is refused: ${verdict.refusal}. It is not unlocked.`;
      if (loaded && !isFinished) return `Downloading: ${size(loaded.had)} of ${size(loaded.length)}.`;
      if (verdict?.isVerified) return reason === "restore" ? "Restored: it is yours." : "It is yours: the store’s receipt was verified.";
      if (isFinished) return `${reason === "restore" ? "Restored, and finished" : "Finished"} on another device or in another tab.`;
      return change.isDelivered ? "Delivered." : "Paid. It is being delivered.";
    default: return bank ? "Your bank asks you to confirm this payment." : "The payment is on its way.";
  }
}

function show(row) {
  const { item, parts, change: { transaction } } = row;
  const isFailed = transaction.state === "failed";
  item.dataset.state = transaction.state;
  item.dataset.revision = row.change.revision ?? "";
  item.dataset.steps = [...row.passed.keys()].join(" ");
  parts.title.textContent = titleOf(transaction.productID) + (transaction.quantity > 1 ? ` × ${transaction.quantity}` : "");
  parts.price.textContent = money(transaction.price);
  for (const step of parts.steps.children) {
    const name = step.dataset.step;
    step.hidden = isFailed && (name === "purchased" || name === "delivered");
    step.toggleAttribute("data-done", row.passed.has(name));
    step.lastChild.textContent = row.passed.get(name) && name !== steps[0] ? `${Math.round(row.passed.get(name))} ms` : "";
  }
  parts.bar.hidden = !row.loaded || row.isFinished;
  if (row.loaded) { parts.bar.max = row.loaded.length; parts.bar.value = row.loaded.had; }
  const text = words(row);
  parts.words.className = isFailed || row.trouble ? "problem" : "";
  // A step of a download is no news.
  if (parts.words.textContent !== text && !(row.loaded && parts.words.textContent.startsWith("Downloading"))) {
    find("said").textContent = `${parts.title.textContent}: ${text}`;
  }
  parts.words.textContent = text;
  showButtons(row);
}

function showButtons(row) {
  const { transaction, isDelivered } = row.change;
  const { id, state, revokedAt, failureReason } = transaction;
  const isBought = state === "purchased" || state === "restored";
  const found = [];
  const button = (label, act, isOutside) => found.push([label, () => element("button",
    { type: "button", class: isOutside ? "quiet outside" : "quiet", onclick: act }, label)]);
  const control = (label, action, body) => button(label, () => decide(row, action, body), true);
  if (!row.isFinished && !row.isFinishing && find("hold").checked && (isDelivered || state === "failed")
    || row.isStuck) button("Finish", () => finish(row));
  if (row.bank) found.push(row.bank);
  if (isBought) button("Receipt", async () => (await loadPart("./receipt.js"))?.showReceipt(id));
  for (const [name, file] of row.files) {
    found.push([`Save ${name}`, () => element("a", { href: file, download: name }, "Save the download")]);
  }
  if (hasControls && state === "deferred") {
    control("Approve as parent", "approval", { decision: "approve" });
    control("Decline as parent", "approval", { decision: "decline" });
  }
  if (hasControls && state === "purchased" && !revokedAt && transaction.price.minorUnits > 0) {
    control("Refund as support", "refund", {});
  }
  if (hasControls && failureReason === "interrupted" && !row.isResumed) control("Resume as support", "resumption", {});
  const { acts } = row.parts;
  const labels = found.map(([label]) => label).join("\n");
  if (acts.dataset.labels === labels) return;
  const hadFocus = acts.contains(document.activeElement);
  acts.dataset.labels = labels;
  acts.replaceChildren(...found.map(([, make]) => make()));
  if (hadFocus) row.item.focus();
}

async function decide(row, action, body) {
  const { id } = row.change.transaction;
  try {
    // The stream tells what comes of it.
    await call("POST", `/api/sandbox/transactions/${id}/${action}`, { body, key: newKey() });
    row.isResumed = action === "resumption";
    show(row);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    row.trouble = problem.message;
    show(row);
    row.trouble = undefined;
  }
}

/** Shows every title, as after the shelf was loaded. */
export function showTitles() { for (const row of rows.values()) show(row); }

/** Finishes everything that is ready, as after the switch is turned off. */
function finishAll() {
  for (const row of rows.values()) { show(row); finishIfReady(row); }
}

function isReady(row) {
  const { transaction, isDelivered } = row.change;
  const { state, revokedAt } = transaction;
  if (row.isFinished || row.isFinishing || row.isStuck || row.isForgotten || find("hold").checked) return false;
  // A receipt that was refused is refused again.
  if (row.verdict && !row.verdict.isVerified && !revokedAt) return false;
  return state === "failed" || ((state === "purchased" || state === "restored") && isDelivered);
}

function finishIfReady(row) {
  if (isReady(row)) waiting.add(row);
  finishInTurn();
}

/** Finishes the rows that wait, a few at a time. */
function finishInTurn() {
  for (const row of waiting) {
    if (finishing >= finishingMax) return;
    waiting.delete(row);
    if (!isReady(row)) continue;
    finishing += 1;
    finish(row).finally(() => {
      finishing -= 1;
      drop();
      finishInTurn();
      if (finishing || !isFull) return;
      // Some may be finished now, so there is room for others.
      showWhetherFull(false);
      onFull(false);
    });
  }
}

/** Verifies the receipt, loads hosted content, and only then tells the store that the buyer has all. */
async function finish(row) {
  if (row.isFinishing || row.isFinished) return;
  Object.assign(row, { isFinishing: true, isStuck: false, trouble: undefined });
  const { id, state, revokedAt } = row.change.transaction;
  try {
    if (state !== "failed" && !revokedAt) {
      row.verdict = await callUntilAnswered("GET", `/api/transactions/${id}/receipt`);
      show(row);
      if (!row.verdict.isVerified) return;
      // After the finish the store no longer hands it out.
      for (const content of row.change.contents ?? []) await load(row, content);
    }
    await callUntilAnswered("POST", `/api/transactions/${id}/finish`);
    take(row.change, true);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    Object.assign(row, { isStuck: true, trouble: problem.message });
  } finally {
    row.isFinishing = false;
    show(row);
  }
}

async function load(row, content) {
  const part = await loadPart("./download.js");
  if (!part) throw new Problem({ code: "offline", detail: "The download has not begun. Press Finish to try again." });
  await part.loadContent(row, content, show);
}

find("hold").addEventListener("change", finishAll);

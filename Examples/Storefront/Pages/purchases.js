// The purchases of this session, each with the steps that it has passed.
import { Problem, call, callUntilAnswered, newKey } from "./api.js";
import { titleOf } from "./shelf.js";
import { element, failures, money, time } from "./text.js";

const find = (id) => document.getElementById(id);
const steps = ["purchasing", "purchased", "delivered", "finished"];
const rowsMax = 50;
let rows = new Map();
let onChange = () => {};
let hasControls = false;

export function onOwnedChange(tell) { onChange = tell; }

export function clearPurchases(mayControl) {
  hasControls = mayControl;
  rows = new Map();
  find("queue").replaceChildren();
  find("queue-empty").hidden = false;
}

/** Takes a change; an older one than what is shown changes nothing. */
export function take(change, isRemoved = false) {
  const { id } = change.transaction;
  const row = rows.get(id) ?? { seen: performance.now(), passed: new Map(), item: element("li", { "data-id": id }) };
  const isOlder = row.change && (change.transaction.version < row.change.transaction.version
    || (change.revision ?? 0) < (row.change.revision ?? 0));
  if (isOlder && !isRemoved) return;
  if (!rows.has(id)) {
    rows.set(id, row);
    find("queue").prepend(row.item);
    if (rows.size > rowsMax) drop();
  }
  row.change = change;
  row.isFinished ||= isRemoved || Boolean(change.finishedAt);
  for (const step of passed(row)) {
    if (!row.passed.has(step)) row.passed.set(step, performance.now() - row.seen);
  }
  show(row);
  onChange();
  finishIfReady(row);
}

function drop() {
  for (const [id, row] of rows) {
    if (rows.size <= rowsMax) return;
    if (row.isFinished) { row.item.remove(); rows.delete(id); }
  }
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

function words({ change, isFinished, verdict, trouble }) {
  const { state, failureReason, revokedAt, reason } = change.transaction;
  if (trouble) return trouble;
  if (revokedAt) return "Refunded: this is no longer yours.";
  switch (state) {
    case "failed": return failures[failureReason] ?? "It failed. Nothing was charged.";
    case "deferred": return "Waiting for approval. Nothing is charged before that.";
    case "purchased": case "restored":
      if (verdict && !verdict.isVerified) return `The receipt is refused: ${verdict.refusal}. It is not unlocked.`;
      if (verdict?.isVerified || isFinished) return reason === "restore" ? "Restored: it is yours." : "It is yours: the store’s receipt was verified.";
      return change.isDelivered ? "Delivered." : "Paid. It is being delivered.";
    default: return "The payment is on its way.";
  }
}

function show(row) {
  const { transaction } = row.change;
  const isFailed = transaction.state === "failed";
  const list = element("ol", { class: "steps", "aria-label": "Steps" }, ...steps
    .filter((step) => !(isFailed && (step === "purchased" || step === "delivered")))
    .map((step) => element("li", { "data-step": step, "data-done": row.passed.has(step) },
      row.passed.get(step) > 0 ? `${step}, ${Math.round(row.passed.get(step))} ms` : step)));
  row.item.dataset.state = transaction.state;
  row.item.dataset.revision = row.change.revision ?? "";
  row.item.dataset.steps = [...row.passed.keys()].join(" ");
  row.item.replaceChildren(
    element("p", { class: "acts" }, element("strong", { dir: "auto" },
      titleOf(transaction.productID) + (transaction.quantity > 1 ? ` × ${transaction.quantity}` : "")),
    element("span", {}, money(transaction.price))),
    list, element("p", { class: isFailed || row.trouble ? "problem" : "" }, words(row)), buttons(row));
}

function buttons(row) {
  const { transaction, isDelivered } = row.change;
  const { id, state } = transaction;
  const isBought = state === "purchased" || state === "restored";
  const button = (words, act) => element("button", { type: "button", class: "quiet", onclick: act }, words);
  const found = [];
  if (isBought) found.push(button("Receipt", () => showReceipt(id)));
  if (!row.isFinished && find("hold").checked && (isDelivered || state === "failed")) {
    found.push(button("Finish", () => finish(row)));
  }
  const control = (words, action, body) =>
    button(words, () => decide(row, action, body));
  if (hasControls && state === "deferred") {
    found.push(control("Approve as the parent", "approval", { decision: "approve" }),
      control("Decline", "approval", { decision: "decline" }));
  }
  if (hasControls && state === "purchased" && !transaction.revokedAt && transaction.price.minorUnits > 0) {
    found.push(control("Refund as support", "refund", {}));
  }
  return element("p", { class: "acts" }, ...found);
}

async function decide(row, action, body) {
  const { id } = row.change.transaction;
  try {
    const answer = await call("POST", `/api/sandbox/transactions/${id}/${action}`, { body, key: newKey() });
    // The stream no longer tells of a transaction that has left the queue.
    if (answer.transaction && row.isFinished) {
      row.change = { ...row.change, transaction: answer.transaction };
      show(row);
      setTimeout(onChange, 500);
    }
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    row.trouble = problem.message;
    show(row);
    row.trouble = undefined;
  }
}

/** Finishes everything that is ready, as after the switch is turned off. */
export function finishAll() {
  for (const row of rows.values()) { show(row); finishIfReady(row); }
}

function finishIfReady(row) {
  const { transaction, isDelivered } = row.change;
  const isBought = transaction.state === "purchased" || transaction.state === "restored";
  if (row.isFinished || find("hold").checked) return;
  if (transaction.state === "failed" || (isBought && isDelivered)) finish(row);
}

/** Verifies the receipt, and only then tells the store that the buyer has everything. */
async function finish(row) {
  if (row.isFinishing || row.isFinished) return;
  row.isFinishing = true;
  const { id, state, revokedAt } = row.change.transaction;
  try {
    if (state !== "failed" && !revokedAt) {
      row.verdict = await callUntilAnswered("GET", `/api/transactions/${id}/receipt`);
      show(row);
      if (!row.verdict.isVerified) return;
    }
    await callUntilAnswered("POST", `/api/transactions/${id}/finish`);
    row.trouble = undefined;
    take(row.change, true);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    row.trouble = problem.message;
    show(row);
  } finally {
    row.isFinishing = false;
  }
}

const claim = (text) => {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
};

async function showReceipt(id) {
  const verdict = await call("GET", `/api/transactions/${id}/receipt`).catch((problem) => ({ problem }));
  const claims = verdict.signedTransaction ? claim(verdict.signedTransaction.split(".")[1]) : {};
  find("receipt-verdict").textContent = verdict.problem ? verdict.problem.message
    : verdict.isVerified ? "Verified: the store signed this, for this app and this purchase."
      : `Refused: ${verdict.refusal}.`;
  find("receipt-claims").replaceChildren(...Object.entries(claims).flatMap(([name, value]) => [
    element("dt", {}, name),
    element("dd", {}, name.endsWith("Date") ? `${value} (${time(value)})` : String(value)),
  ]));
  find("receipt-file").setAttribute("href", `/api/transactions/${id}/receipt.jws`);
  find("receipt").showModal();
}

find("receipt-close").addEventListener("click", () => find("receipt").close());
find("hold").addEventListener("change", finishAll);

// What the buyer owns: balances, and products whose receipts this shop's server has verified.
import { Problem, call, load, newKey } from "./api.js";
import { sign } from "./picture.js";
import { markKept, titleOf } from "./shelf.js";
import { element, find, time } from "./text.js";

let turn = {};
/** The verdicts on opened receipts, by transaction. */
let opened = new Map();
/** How far the store's clock is ahead: a sandbox sets it. */
let ahead = 0;

/** Takes the store's time, by which subscriptions end. */
export function takeTime(now) {
  ahead = now - Date.now();
  for (const { show } of find("owned").children) show?.();
}

/** Forgets the buyer before. */
export function clearOwned() {
  turn = {};
  opened = new Map();
  find("balances").replaceChildren();
  find("owned").replaceChildren(element("li", { class: "ghost" }));
  find("restored").textContent = "";
  markKept([]);
}

export async function loadOwned() {
  const mine = turn;
  try {
    const { products, balances, isCut } = await call("GET", "/api/owned");
    // Another buyer may have signed in meanwhile.
    if (mine !== turn) return;
    find("balances").replaceChildren(...Object.entries(balances).sort().map(([unit, amount]) =>
      element("li", { "data-unit": unit, "data-amount": amount },
        element("strong", {}, new Intl.NumberFormat(navigator.language).format(amount)), ` ${unit}`)));
    const isNothing = !products.length && !Object.keys(balances).length;
    markKept(products.filter(({ isVerified, revokedAt }) => isVerified && !revokedAt).map(({ productID }) => productID));
    const note = isNothing ? "Nothing yet. What you buy for good stays here, on every device."
      : isCut ? "These are your newest purchases. Older ones are not listed here, and are not lost." : undefined;
    find("owned").replaceChildren(...products.map(item), ...(note ? [element("li", { class: "empty" }, note)] : []));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    // The banner says which service is away; what was shown before stays.
    if (mine === turn && find("owned").querySelector(".ghost")) find("owned").replaceChildren();
  }
}

function item(product) {
  const { productID, originalTransactionID: id, revokedAt, grantedAt, endsAt, isTried } = product;
  const made = element("li", { "data-product": productID });
  const open = async () => {
    const verdict = await (await load("./receipt.js"))?.showReceipt(id);
    if (!verdict?.signedTransaction) return;
    opened.set(id, verdict);
    show();
  };
  // It stays, so that who closes the receipt is where they were.
  const acts = element("p", { class: "acts" }, element("button", { type: "button", class: "quiet", onclick: open }, "Receipt"));
  const isKnown = product.isVerified !== undefined || revokedAt;
  function show() {
    const { isVerified, refusal } = opened.get(id) ?? product;
    const state = revokedAt ? "revoked" : isVerified === false ? "refused" : !isVerified ? "unverified"
      : endsAt <= Date.now() + ahead ? "over" : "verified";
    if (made.dataset.owned === state) return;
    const words = {
      revoked: `Refunded on ${time(revokedAt ?? 0)}: no longer yours.`,
      refused: `Not unlocked. The receipt is refused: ${refusal}`,
      over: `It ended on ${time(endsAt ?? 0)}.`,
      verified: `${endsAt ? `Yours until ${time(endsAt)}` : `Yours since ${time(grantedAt)}`}. Receipt verified.`,
      unverified: isTried ? "Not unlocked yet: the receipt could not be fetched."
        : "An older purchase. Open its receipt, and it is verified and unlocked.",
    }[state];
    made.dataset.owned = state;
    made.replaceChildren(...(state === "verified" ? [sign("seal")] : []),
      element("strong", { dir: "auto" }, titleOf(productID)), element("p", { class: "dim" }, words), ...(isKnown ? [] : [acts]));
  }
  made.show = show;
  show();
  return made;
}

/** Restores, and hands the transactions to the queue's part of the page. */
export async function restore(take) {
  find("restored").textContent = "Restoring…";
  try {
    const { transactions } = await call("POST", "/api/restores", { body: {}, key: newKey() });
    for (const transaction of transactions) take({ transaction, isDelivered: false });
    find("restored").textContent = transactions.length
      ? `${transactions.length} restored.` : "There is nothing to restore.";
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    find("restored").textContent = `Nothing was restored. ${problem.message}`;
  }
}

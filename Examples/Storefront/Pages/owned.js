// What the buyer owns: balances, and products whose receipts this shop's server has verified.
import { Problem, call, newKey } from "./api.js";
import { sign } from "./picture.js";
import { titleOf } from "./shelf.js";
import { element, find, time } from "./text.js";

let turn = {};

/** Forgets the buyer before. */
export function clearOwned() {
  turn = {};
  find("balances").replaceChildren();
  find("owned").replaceChildren(element("li", { class: "ghost" }));
  find("restored").textContent = "";
}

export async function loadOwned() {
  const mine = turn;
  try {
    const { products, balances } = await call("GET", "/api/owned");
    // Another buyer may have signed in meanwhile.
    if (mine !== turn) return;
    find("balances").replaceChildren(...Object.entries(balances).sort().map(([unit, amount]) =>
      element("li", { "data-unit": unit, "data-amount": amount },
        element("strong", {}, new Intl.NumberFormat(navigator.language).format(amount)), ` ${unit}`)));
    const isNothing = !products.length && !Object.keys(balances).length;
    find("owned").replaceChildren(...products.map(item), ...(isNothing
      ? [element("li", { class: "empty" }, "Nothing yet. What you buy for good stays here, on every device.")] : []));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    // The banner says which service is away; what was shown before stays.
    if (mine === turn && find("owned").querySelector(".ghost")) find("owned").replaceChildren();
  }
}

function item(product) {
  const state = product.revokedAt ? "revoked" : product.isVerified === false ? "refused"
    : product.isVerified ? "verified" : "unverified";
  const words = {
    revoked: `Refunded on ${time(product.revokedAt ?? 0)}: no longer yours.`,
    refused: `Not unlocked. The receipt is refused: ${product.refusal}`,
    verified: product.endsAt ? `Yours until ${time(product.endsAt)}.` : `Yours since ${time(product.grantedAt)}.`,
    unverified: "Not unlocked yet: the receipt could not be fetched.",
  }[state];
  return element("li", { "data-product": product.productID, "data-owned": state },
    state === "verified" ? sign("seal") : undefined,
    element("strong", { dir: "auto" }, titleOf(product.productID)),
    element("p", { class: "dim" }, state === "verified" ? `${words} Receipt verified.` : words));
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

// What a bank asks of the buyer before it pays, as with 3-D Secure. Loaded when a payment takes longer than most.
import { Problem, call, pause as rest } from "./api.js";
import { openDialog } from "./dialog.js";
import { titleOf } from "./shelf.js";
import { element, find, money } from "./text.js";

const sandboxPages = "/v1/sandbox/actions/";
const pauseMax = 3000;
let asked;

const dialog = element("dialog", { id: "bank", "aria-labelledby": "bank-title" },
  element("h2", { id: "bank-title" }, "Your bank asks"),
  element("p", { id: "bank-what", dir: "auto" }),
  element("p", { class: "dim" },
    "This is the bank of the sandbox. A real bank shows a page of its own, and asks for a code or a fingerprint."),
  element("p", { id: "bank-problem", class: "problem", role: "alert", hidden: true }),
  element("p", { class: "acts" },
    element("button", { id: "bank-confirm", type: "button", onclick: () => decide("complete") }, "Confirm"),
    element("button", { type: "button", class: "quiet", onclick: () => decide("refuse") }, "Refuse"),
    element("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Later")));
document.body.append(dialog);

/**
 * Looks whether the bank waits for the buyer, again and again while the payment is on its way.
 *
 * The button that leads to the bank is `row.bank`; `show` is called after each change of it.
 */
export async function watch(row, show, pause = 1000) {
  const { transaction } = row.change;
  if (transaction.state !== "purchasing" || row.isForgotten) return;
  const url = document.hidden ? row.bankPage : await findPage(`transactions/${transaction.id}`);
  if (row.change.transaction.state !== "purchasing" || row.isForgotten) return;
  if (url !== row.bankPage) {
    row.bankPage = url;
    row.bank = url && buttonTo(url, transaction, () => {
      clearTimeout(row.timer);
      watch(row, show);
    });
    show(row);
  }
  row.timer = setTimeout(() => watch(row, show, Math.min(pause * 1.5, pauseMax)), pause);
}

/**
 * Looks whether the bank waits for the subscriber while what a subscription owes is being charged.
 *
 * The button that leads to the bank is put into `place`. Once nobody waits, `reload` makes the list anew.
 */
export async function watchOwed({ id, charge }, place, reload) {
  const transaction = { price: (charge.offer ?? charge.product).price, productID: charge.product.id };
  let shown;
  while (place.isConnected) {
    const url = document.hidden ? shown : await findPage(`subscriptions/${id}`);
    if (url !== shown) {
      const hadFocus = place.contains(document.activeElement);
      place.replaceChildren(...(url ? [buttonTo(url, transaction, reload)[1]()] : []));
      if (hadFocus) place.closest("li")?.focus();
    }
    shown = url;
    await rest(1500);
    if (url || document.hidden || !place.isConnected) continue;
    reload();
    return;
  }
}

/** The page on which the buyer has to act; `undefined` if there is nothing to do, or nobody knows. */
async function findPage(path) {
  try {
    return (await call("GET", `/api/${path}/action`)).url;
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    return undefined;
  }
}

/** The label and the maker of the button to the bank; `again` is called after the buyer's decision. */
function buttonTo(url, { price, productID }, again) {
  if (!url.startsWith(sandboxPages)) {
    return ["Go to your bank", () => element("a", { href: url, target: "_blank", rel: "noopener" }, "Go to your bank")];
  }
  const open = () => {
    asked = { url, again };
    find("bank-what").textContent = `Do you pay ${money(price)} for ${titleOf(productID)}?`;
    find("bank-problem").hidden = true;
    openDialog(dialog);
  };
  const label = "Confirm at the bank";
  return [label, () => element("button", { type: "button", class: "quiet", onclick: open }, label)];
}

async function decide(decision) {
  const { url, again } = asked;
  try {
    await call("POST", `/api/sandbox/actions/${url.slice(sandboxPages.length)}`, { body: { decision } });
    dialog.close();
    // Asking again lets the store learn at once what the buyer has decided.
    again();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    find("bank-problem").textContent = problem.message;
    find("bank-problem").hidden = false;
  }
}

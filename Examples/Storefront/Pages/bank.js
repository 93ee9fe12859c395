// What a bank asks of the buyer before it pays, as with 3-D Secure. Loaded when a payment takes longer than most.
import { Problem, call } from "./api.js";
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
  const url = document.hidden ? row.bankPage : await findPage(transaction.id);
  if (row.change.transaction.state !== "purchasing" || row.isForgotten) return;
  if (url !== row.bankPage) {
    row.bankPage = url;
    row.bank = url && buttonTo(url, row, show);
    show(row);
  }
  row.timer = setTimeout(() => watch(row, show, Math.min(pause * 1.5, pauseMax)), pause);
}

/** The page on which the buyer has to act; `undefined` if there is nothing to do, or nobody knows. */
async function findPage(id) {
  try {
    return (await call("GET", `/api/transactions/${id}/action`)).url;
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    return undefined;
  }
}

function buttonTo(url, row, show) {
  if (!url.startsWith(sandboxPages)) {
    return ["Go to your bank", () => element("a", { href: url, target: "_blank", rel: "noopener" }, "Go to your bank")];
  }
  const open = () => {
    const { price, productID } = row.change.transaction;
    asked = { url, row, show };
    find("bank-what").textContent = `Do you pay ${money(price)} for ${titleOf(productID)}?`;
    find("bank-problem").hidden = true;
    openDialog(dialog);
  };
  const label = "Confirm at the bank";
  return [label, () => element("button", { type: "button", class: "quiet", onclick: open }, label)];
}

async function decide(decision) {
  const { url, row, show } = asked;
  try {
    await call("POST", `/api/sandbox/actions/${url.slice(sandboxPages.length)}`, { body: { decision } });
    dialog.close();
    // Asking again lets the store learn at once what the buyer has decided.
    clearTimeout(row.timer);
    watch(row, show);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    find("bank-problem").textContent = problem.message;
    find("bank-problem").hidden = false;
  }
}

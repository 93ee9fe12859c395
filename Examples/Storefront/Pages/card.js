// Another card for a subscription. Loaded when somebody wants to change it.
import { Problem, call, pause } from "./api.js";
import { openDialog } from "./dialog.js";
import { subscriptionMethods } from "./methods.js";
import { isOwed } from "./subscription.js";
import { loadSubscriptions } from "./subscriptions.js";
import { element, find } from "./text.js";

const dialog = element("dialog", { id: "card", "aria-labelledby": "card-title" },
  element("form", { id: "card-form", onsubmit: choose },
    element("h2", { id: "card-title" }),
    element("p", { id: "card-what", class: "dim" }),
    element("label", {}, "Card ", element("select", { name: "method" },
      ...subscriptionMethods.map(([method, , words]) => element("option", { value: method }, words)))),
    element("p", { id: "card-problem", class: "problem", role: "alert", hidden: true }),
    element("p", { class: "acts" }, element("button", { id: "card-go" }),
      element("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Not now"))));
document.body.append(dialog);
// The button that opened it may have been made anew meanwhile.
dialog.addEventListener("close", () => document.querySelector(`[data-act="card ${asked?.id}"]`)?.focus());
let asked;

/** Opens the dialog for a subscription. */
export function askForCard(subscription) {
  asked = subscription;
  find("card-title").textContent = isOwed(subscription) ? "Pay with another card" : "Change the card";
  find("card-what").textContent = isOwed(subscription)
    ? "It is charged at once for what you owe. From then on it pays each renewal."
    : "It pays from the next renewal on. Nothing is charged now.";
  find("card-go").textContent = isOwed(subscription) ? "Pay" : "Change";
  find("card-go").disabled = false;
  find("card-problem").hidden = true;
  openDialog(dialog);
}

async function choose(event) {
  event.preventDefault();
  const mine = asked;
  const isMine = () => dialog.open && asked === mine;
  find("card-go").disabled = true;
  find("card-problem").hidden = true;
  try {
    // The bank may ask the buyer, whose button is in the list behind the dialog.
    const triesMax = mine.renewalProblem === "buyerMustAct" ? 8 : 40;
    const after = await outcome(mine.id, find("card-form").elements.method.value, triesMax);
    await loadSubscriptions();
    if (!isMine()) return;
    // A charge that takes longer shows in the list once it is done.
    if (!isOwed(after) || after.charge) return dialog.close();
    complain("This card did not pay. Choose another one.");
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (isMine()) complain(problem.code === "too_many_tries" ? "That is enough for today. The card is saved and is charged at the next try." : problem.message);
  }
  if (isMine()) find("card-go").disabled = false;
}

/** Chooses a card. Returns the subscription once the charge is done, or after a number of tries to see it. */
async function outcome(id, paymentMethod, triesMax) {
  let { subscription } = await call("PUT", `/api/subscriptions/${id}/payment-method`, { body: { paymentMethod } });
  for (let tries = 0; subscription.charge && tries < triesMax; tries += 1) {
    await pause(250);
    const { subscriptions } = await call("GET", "/api/subscriptions");
    subscription = subscriptions.find((other) => other.id === id) ?? subscription;
  }
  return subscription;
}

function complain(text) {
  find("card-problem").textContent = text;
  find("card-problem").hidden = false;
}

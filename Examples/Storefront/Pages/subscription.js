// A subscription: how long it lasts, what comes next, and what its buyer can do. Loaded with a buyer's first one.
import { Problem, call, load } from "./api.js";
import { askToBuy, productsOfGroup, titleOf } from "./shelf.js";
import { loadSubscriptions } from "./subscriptions.js";
import { element, money, time } from "./text.js";

/** Whether the renewal was not paid, and the store still tries. */
export const isOwed = ({ state }) => ["inGracePeriod", "inBillingRetryPeriod"].includes(state);
const isRunning = (subscription) => subscription.state === "active" || isOwed(subscription);

/** The higher price of the next product that its subscriber knows of; `undefined` if there is none. */
function raiseOf({ period, pendingProduct, priceIncrease }) {
  const isKnown = priceIncrease?.productID === (pendingProduct ?? period.product).id && priceIncrease.status !== "scheduled";
  return isKnown ? priceIncrease : undefined;
}

/** The offer of the next period; `undefined` if that has the ordinary price. */
function offerOf({ period: { product, offer }, pendingOffer }, next) {
  if (product.id !== next.id) return undefined;
  const goesOn = offer?.number < offer?.numberOfPeriods ? offer : undefined;
  return goesOn?.type === "introductory" && pendingOffer?.introductory === "comesFirst" ? goesOn : pendingOffer ?? goesOn;
}

/** The words for the end of the period, and for a higher price. */
function wordsOfRenewal(subscription) {
  const { period: { product, end }, pendingProduct } = subscription;
  const next = pendingProduct ?? product;
  const offer = offerOf(subscription, next);
  const raise = raiseOf(subscription);
  const isDue = raise && !offer && raise.effectiveAt <= end;
  const isDeclined = raise?.status === "declined";
  if (isDue && isDeclined) return `You did not agree to ${money(raise.price)}, so it ends then.`;
  const condition = raise?.status === "pending" ? " if you agree, and ends if you do not" : "";
  const { price } = offer ?? (isDue ? raise : next);
  const renewal = `Then it renews ${pendingProduct ? `as ${titleOf(next.id)} ` : ""}for ${money(price)}${isDue ? condition : ""}.`;
  if (!raise || isDue) return renewal;
  const from = time(raise.effectiveAt);
  return isDeclined ? `${renewal} You did not agree to ${money(raise.price)}, so it ends at the first renewal after ${from}.`
    : `${renewal} From ${from} on it costs ${money(raise.price)}${condition}.`;
}

function words(subscription) {
  const { state, period, autoRenewOffReason, gracePeriodEnd } = subscription;
  switch (state) {
    case "active": return `Yours until ${time(period.end)}. ${autoRenewOffReason ? "It is not renewed." : wordsOfRenewal(subscription)}`;
    case "inGracePeriod": return `The renewal was not paid. It is yours until ${time(gracePeriodEnd)}; the store tries again.`;
    case "inBillingRetryPeriod": return "The renewal was not paid, so it is not yours now. The store tries again.";
    case "revoked": return "Refunded: no longer yours.";
    default: return `It ended on ${time(period.end)}.`;
  }
}

/** The item of a subscription in the list. */
export function item(subscription) {
  const { id, period, autoRenewOffReason, pendingProduct } = subscription;
  const trouble = element("p", { class: "problem", role: "alert" });
  const button = (name, label, onclick) =>
    element("button", { type: "button", class: "quiet", "data-act": `${name} ${id}`, onclick }, label);
  const act = (label, path, body, about = "") => button(path + about, label, async () => {
    try {
      await call("PUT", `/api/subscriptions/${id}/${path}`, { body });
      await loadSubscriptions();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      trouble.textContent = problem.message;
    }
  });
  const acts = [];
  if (isOwed(subscription) && subscription.charge) {
    const place = element("span", {});
    acts.push(place);
    load("./bank.js").then((part) => part?.watchOwed(subscription, place, loadSubscriptions));
  } else if (subscription.state === "inBillingRetryPeriod" && subscription.renewalProblem === "buyerMustAct" && !pendingProduct) {
    // The card that pays is charged at once, and its bank may ask now. In grace a card has to be chosen.
    acts.push(act("Confirm at your bank", "product", { productID: period.product.id }, "bank"));
  }
  if (isRunning(subscription)) {
    const others = productsOfGroup(period.product.terms.groupID).filter((other) => other.id !== period.product.id);
    for (const other of others) {
      // A better service is paid at once; a lesser one begins with the next period.
      if (other.subscription.level < period.product.terms.level) {
        const note = subscription.state === "active" ? " What is left of your running period is given back." : "";
        acts.push(button("upgrade", `Upgrade to ${other.title}`, () => askToBuy({ ...other, note })));
      } else if (pendingProduct?.id !== other.id) {
        acts.push(act(`Change to ${other.title}`, "product", { productID: other.id }, other.id));
      } else {
        acts.push(act(`Stay with ${titleOf(period.product.id)}`, "product", { productID: period.product.id }, other.id));
      }
    }
    const raise = raiseOf(subscription);
    if (raise?.status === "pending" && subscription.state === "active" && !autoRenewOffReason) {
      const answer = (label, decision) => act(label, "price-increase", { decision, increaseID: raise.id }, decision);
      acts.push(answer(`Agree to ${money(raise.price)}`, "agree"), answer("Do not agree", "decline"));
    }
    acts.push(button("card", subscription.state === "active" ? "Change the card" : "Pay with another card",
      async () => (await load("./card.js"))?.askForCard(subscription)));
    acts.push(autoRenewOffReason ? act("Renew after all", "auto-renew", { isOn: true })
      : act("Cancel", "auto-renew", { isOn: false }));
  }
  return element("li", { "data-subscription": period.product.id, "data-state": subscription.state, "data-end": period.end, tabindex: "-1" },
    element("p", { class: "head" }, element("strong", { dir: "auto" }, titleOf(period.product.id)),
      element("span", { class: "price" }, money(period.price ?? period.product.price))),
    element("p", {}, words(subscription)), trouble, element("p", { class: "acts" }, ...acts));
}

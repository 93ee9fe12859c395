// What the buyer subscribes to, and the store's clock that makes a month pass.
import { Problem, call, newKey } from "./api.js";
import { askToBuy, productsOfGroup, titleOf } from "./shelf.js";
import { element, money, time } from "./text.js";

const find = (id) => document.getElementById(id);
let hasClock = false;

/** Shows the clock or not, and forgets the buyer before. */
export function clearSubscriptions(mayControl) {
  hasClock = mayControl;
  find("subscriptions").replaceChildren();
  find("subscriptions-part").hidden = true;
  find("clock").hidden = !mayControl;
}

export async function loadSubscriptions() {
  try {
    const { subscriptions } = await call("GET", "/api/subscriptions");
    find("subscriptions").replaceChildren(...subscriptions.map(item));
    find("subscriptions-part").hidden = subscriptions.length === 0;
    if (hasClock && subscriptions.length) await showClock();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
  }
}

const isRunning = ({ state }) => ["active", "inGracePeriod", "inBillingRetryPeriod"].includes(state);

function words(subscription) {
  const { state, period, autoRenewOffReason, pendingProduct, gracePeriodEnd } = subscription;
  const next = pendingProduct ?? period.product;
  switch (state) {
    case "active": {
      if (autoRenewOffReason) return `Yours until ${time(period.end)}. It is not renewed.`;
      const change = pendingProduct ? `as ${titleOf(next.id)} ` : "";
      return `Yours until ${time(period.end)}. Then it renews ${change}for ${money(next.price)}.`;
    }
    case "inGracePeriod": return `The renewal was not paid. It is yours until ${time(gracePeriodEnd)}; the store tries again.`;
    case "inBillingRetryPeriod": return "The renewal was not paid, so it is not yours now. The store tries again.";
    case "revoked": return "Refunded: no longer yours.";
    default: return `It ended on ${time(period.end)}.`;
  }
}

function item(subscription) {
  const { id, period, autoRenewOffReason } = subscription;
  const trouble = element("p", { class: "problem", role: "alert" });
  const act = (label, path, body) => element("button", { type: "button", class: "quiet", onclick: async () => {
    try {
      await call("PUT", `/api/subscriptions/${id}/${path}`, { body });
      await loadSubscriptions();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      trouble.textContent = problem.message;
    }
  } }, label);
  const acts = [];
  if (isRunning(subscription)) {
    acts.push(autoRenewOffReason ? act("Renew after all", "auto-renew", { isOn: true })
      : act("Cancel", "auto-renew", { isOn: false }));
    for (const other of productsOfGroup(period.product.terms.groupID)) {
      if (other.id === period.product.id) continue;
      // A better service is paid at once; a lesser one begins with the next period.
      acts.push(other.subscription.level < period.product.terms.level
        ? element("button", { type: "button", class: "quiet", onclick: () => askToBuy(other) }, `Upgrade to ${other.title}`)
        : act(`Change to ${other.title}`, "product", { productID: other.id }));
    }
  }
  return element("li", { "data-subscription": period.product.id, "data-state": subscription.state, "data-end": period.end },
    element("strong", { dir: "auto" }, titleOf(period.product.id)),
    element("p", {}, words(subscription)), trouble, element("p", { class: "acts" }, ...acts));
}

async function showClock() {
  const clock = await call("GET", "/api/sandbox/clock");
  find("clock-now").textContent = time(clock.now);
  return clock;
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function advance(span) {
  const buttons = find("clock").querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  find("clock-status").textContent = "Time passes…";
  try {
    await call("POST", "/api/sandbox/clock/advance", { body: { by: span }, key: newKey() });
    let clock = await showClock();
    while (clock.status === "advancing") {
      await pause(300);
      clock = await showClock();
    }
    find("clock-status").textContent = clock.status === "failed" ? clock.failure : "Everything that fell due is done.";
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    find("clock-status").textContent = problem.message;
  }
  for (const button of buttons) button.disabled = false;
  await loadSubscriptions();
}

for (const button of document.querySelectorAll("#clock button")) {
  button.addEventListener("click", () => advance(button.value));
}

// The dialog that buys. Loaded when somebody wants to.
import { Problem, callUntilAnswered, events, newKey } from "./api.js";
import { openDialog } from "./dialog.js";
import { methods, subscriptionMethods } from "./methods.js";
import { isKept, loadShelf, offerOf, priceOf, productOf } from "./shelf.js";
import { element, find, money, types } from "./text.js";

/** The codes by which the store refuses a price that is no longer that of this buyer. */
const stale = ["stale_price", "stale_offer", "offer_not_available"];
let wish;

const dialog = element("dialog", { id: "pay", "aria-labelledby": "pay-title" },
  element("form", { id: "pay-form", onsubmit: pay, oninput: showTotal },
    element("h2", { id: "pay-title", dir: "auto" }),
    element("p", { id: "pay-terms", class: "dim" }),
    element("label", { id: "pay-quantity" }, "How many ",
      element("input", { name: "quantity", type: "number", min: 1, max: 10, value: 1, required: true })),
    element("fieldset", {}, element("legend", {}, "How should this payment end?"),
      element("div", { id: "methods", class: "scroll", tabindex: "0", role: "group",
        "aria-label": "Payment methods of the sandbox" })),
    element("p", { id: "pay-problem", class: "problem", role: "alert", hidden: true }),
    element("p", { class: "acts" }, element("button", { id: "buy" }),
      element("button", { id: "pay-cancel", type: "button", class: "quiet", onclick: () => dialog.close() }, "Not now"))));
document.body.append(dialog);

/** Makes a wish, and shows what it costs. */
function begin(product) {
  // The key is made once: pressing twice, or asking again after a lost answer, buys once.
  wish = { product, offer: offerOf(product), key: newKey(), isSent: false };
  find("pay-terms").textContent = product.subscription
    ? `${priceOf(product)}, renewed until you cancel.${product.note ?? ""}`
    : isKept(product) ? "You have it. The store gives it again, and charges nothing." : `${priceOf(product)}. ${types[product.type] ?? ""}.`;
  showTotal();
}

/** Opens the dialog that buys. */
export function ask(product) {
  find("pay-title").textContent = product.title;
  find("pay-form").reset();
  find("pay-quantity").hidden = product.type !== "consumable";
  find("pay-problem").hidden = true;
  const offered = product.subscription ? subscriptionMethods : methods;
  find("methods").replaceChildren(...offered.map(([method, end, words], index) =>
    element("label", { "data-end": end },
      element("input", { type: "radio", name: "method", value: method, checked: index === 0 }), words)));
  begin(product);
  openDialog(dialog);
}

function showTotal() {
  const quantity = Math.max(1, Number(find("pay-form").elements.quantity.value) || 1);
  const { minorUnits, currency } = (wish.offer ?? wish.product).price;
  find("buy").textContent = wish.offer && !minorUnits ? "Start for free"
    : isKept(wish.product) ? "Get it again" : `Pay ${money({ minorUnits: minorUnits * quantity, currency })}`;
  find("buy").disabled = wish.isSent;
}

async function pay(event) {
  event.preventDefault();
  if (wish.isSent) return;
  const mine = wish;
  const { product, offer, key } = mine;
  const form = find("pay-form").elements;
  wish.isSent = true;
  showTotal();
  const body = {
    productID: product.id,
    quantity: product.type === "consumable" ? Number(form.quantity.value) : 1,
    storefront: document.body.dataset.storefront,
    price: product.price,
    // The payment is refused unless it gets exactly what was shown.
    offer: offer && { type: "introductory", terms: offer },
    paymentMethod: form.method.value,
  };
  try {
    const { transaction } = await callUntilAnswered("POST", "/api/payments", { body, key });
    dialog.close();
    events.dispatchEvent(new CustomEvent("bought", { detail: transaction }));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const isStale = stale.includes(problem.code);
    if (isStale) await loadShelf();
    // Somebody may have opened the dialog for another product meanwhile.
    if (wish !== mine) return;
    // It was refused for good, so another try is another wish.
    begin({ ...(productOf(product.id) ?? product), note: product.note });
    find("pay-problem").textContent = isStale ? wordsOf(mine) : problem.message;
    find("pay-problem").hidden = false;
  }
}

/** The words for a price that was shown and refused. */
function wordsOf({ product, offer }) {
  const isSame = JSON.stringify([product.price, offer]) === JSON.stringify([wish.product.price, wish.offer]);
  return isSame ? "The offer cannot be had with this payment method. Nothing was charged."
    : "The price has changed meanwhile. Nothing was charged; this is what it costs now.";
}

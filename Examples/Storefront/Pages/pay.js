// The dialog that buys. Loaded when somebody wants to.
import { Problem, callUntilAnswered, events, newKey } from "./api.js";
import { methods, subscriptionMethods } from "./methods.js";
import { loadShelf, priceOf } from "./shelf.js";
import { element, find, money, types } from "./text.js";

let wish;

/** Opens the dialog that buys. */
export function ask(product) {
  // The key is made once: pressing twice, or asking again after a lost answer, buys once.
  wish = { product, key: newKey(), isSent: false };
  find("pay-title").textContent = product.title;
  find("pay-terms").textContent = product.subscription
    ? `${priceOf(product)}, renewed until you cancel.` : `${priceOf(product)}. ${types[product.type] ?? ""}.`;
  find("pay-form").reset();
  find("pay-quantity").hidden = product.type !== "consumable";
  find("pay-problem").hidden = true;
  const offered = product.subscription ? subscriptionMethods : methods;
  find("methods").replaceChildren(...offered.map(([method, end, words], index) =>
    element("label", { "data-end": end },
      element("input", { type: "radio", name: "method", value: method, checked: index === 0 }), words)));
  showTotal();
  find("pay").showModal();
}

function showTotal() {
  const quantity = Math.max(1, Number(find("pay-form").elements.quantity.value) || 1);
  const { minorUnits, currency } = wish.product.price;
  find("buy").textContent = `Pay ${money({ minorUnits: minorUnits * quantity, currency })}`;
  find("buy").disabled = wish.isSent;
}

async function pay(event) {
  event.preventDefault();
  if (wish.isSent) return;
  const { product, key } = wish;
  const form = find("pay-form").elements;
  wish.isSent = true;
  showTotal();
  const body = {
    productID: product.id,
    quantity: product.type === "consumable" ? Number(form.quantity.value) : 1,
    storefront: document.body.dataset.storefront,
    price: product.price,
    paymentMethod: form.method.value,
  };
  try {
    const { transaction } = await callUntilAnswered("POST", "/api/payments", { body, key });
    find("pay").close();
    events.dispatchEvent(new CustomEvent("bought", { detail: transaction }));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (problem.code === "stale_price") loadShelf();
    find("pay-problem").textContent = problem.message;
    find("pay-problem").hidden = false;
    // It was refused for good, so another try is another wish.
    wish = { product, key: newKey(), isSent: false };
    showTotal();
  }
}

find("pay-form").addEventListener("submit", pay);
find("pay-form").addEventListener("input", showTotal);
find("pay-cancel").addEventListener("click", () => find("pay").close());

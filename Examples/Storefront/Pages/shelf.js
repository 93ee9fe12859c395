// The shelf, and the dialog that buys.
import { Problem, call, callUntilAnswered, newKey } from "./api.js";
import { picture } from "./picture.js";
import { element, find, methods, money, period, plain, renewalMethods, types } from "./text.js";

const products = new Map();
let onBought = () => {};
let isCurrent = () => true;

/** The title of a product, or its id where the shelf does not have it. */
export const titleOf = (id) => products.get(id)?.title ?? id;

/** The products of a group of subscriptions that are on the shelf. */
export const productsOfGroup = (group) =>
  [...products.values()].filter((product) => product.subscription?.groupID === group);

/** Sets what gets each transaction that the dialog has bought. */
export function onPurchase(tell) { onBought = tell; }

/** Loads every page of the products that are on sale. */
export async function loadShelf() {
  const shelf = find("shelf");
  const turn = {};
  isCurrent = (other) => other === turn;
  shelf.setAttribute("aria-busy", "true");
  shelf.replaceChildren(...[1, 2, 3, 4].map(() => element("li", { class: "card ghost" })));
  try {
    const found = [];
    let after;
    do {
      const page = await call("GET", `/api/products?language=${encodeURIComponent(navigator.language)}`
        + (after ? `&after=${encodeURIComponent(after)}` : ""));
      found.push(...page.products);
      after = page.next;
    } while (after && found.length < 500);
    if (!isCurrent(turn)) return;
    products.clear();
    for (const product of found) {
      const { id, title, description } = product;
      products.set(id, { ...product, title: plain(title) || id, description: plain(description) });
    }
    shelf.replaceChildren(...[...products.values()].sort(inOrder).map(card));
    if (!found.length) {
      shelf.append(element("li", { class: "empty" }, "Nothing is on sale here yet."));
    }
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    shelf.replaceChildren(element("li", { class: "card" },
      element("p", { class: "problem" }, `The shelf cannot be shown. ${problem.message}`),
      element("button", { type: "button", onclick: loadShelf }, "Try again")));
  }
  shelf.setAttribute("aria-busy", "false");
}

const order = Object.keys(types);
const inOrder = (one, other) =>
  order.indexOf(one.type) - order.indexOf(other.type) || one.price.minorUnits - other.price.minorUnits;

/** The price, and for how long a subscription has it. */
const priceOf = ({ price, subscription: terms }) => money(price) + (terms ? ` / ${period(terms.period)}` : "");

function card(product) {
  const { id, type, language, title, description } = product;
  return element("li", { class: "card", "data-product": id, "data-type": type },
    picture(product),
    element("div", { class: "about" },
      element("p", { class: "kind" }, types[type] ?? type),
      element("h2", { lang: language, dir: "auto" }, title),
      element("p", { class: "dim", lang: language, dir: "auto" }, description)),
    element("div", { class: "stub" },
      element("strong", { class: "price" }, priceOf(product)),
      element("button", { type: "button", onclick: () => askToBuy(product), "aria-label": `Buy ${title}` }, "Buy")));
}

let wish;

/** Opens the dialog that buys. */
export function askToBuy(product) {
  // The key is made once: pressing twice, or asking again after a lost answer, buys once.
  wish = { product, key: newKey(), isSent: false };
  find("pay-title").textContent = product.title;
  find("pay-terms").textContent = product.subscription
    ? `${priceOf(product)}, renewed until you cancel.` : `${priceOf(product)}. ${types[product.type] ?? ""}.`;
  find("pay-form").reset();
  find("pay-quantity").hidden = product.type !== "consumable";
  find("pay-problem").hidden = true;
  const offered = product.subscription ? [methods[0], ...renewalMethods, ...methods.slice(1)] : methods;
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
    onBought(transaction);
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

// The shelf, and the dialog that buys.
import { Problem, call, callUntilAnswered, newKey } from "./api.js";
import { element, methods, money, period, picture, types } from "./text.js";

const find = (id) => document.getElementById(id);
const products = new Map();
let onBought = () => {};
let isCurrent = () => true;

/** The title of a product, or its id where the shelf does not have it. */
export const titleOf = (id) => products.get(id)?.title ?? id;

/** The products of a group of subscriptions that are on the shelf. */
export const productsOfGroup = (group) =>
  [...products.values()].filter((product) => product.subscription?.groupID === group);

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
    for (const product of found) products.set(product.id, product);
    shelf.replaceChildren(...found.map(card));
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

function card(product) {
  const terms = product.subscription;
  const price = money(product.price) + (terms ? ` / ${period(terms.period)}` : "");
  return element("li", { class: "card", "data-product": product.id },
    picture(product.type),
    element("h2", { lang: product.language, dir: "auto" }, product.title),
    element("p", { lang: product.language, dir: "auto" }, product.description),
    element("p", {}, types[product.type] ?? product.type),
    element("div", { class: "acts" },
      element("strong", {}, price),
      element("button", { type: "button", onclick: () => askToBuy(product), "aria-label": `Buy ${product.title}` }, "Buy")));
}

let wish;

/** Opens the dialog that buys. */
export function askToBuy(product) {
  // The key is made once: pressing twice, or asking again after a lost answer, buys once.
  wish = { product, key: newKey(), isSent: false };
  find("pay-title").textContent = product.title;
  find("pay-form").reset();
  find("pay-quantity").hidden = product.type !== "consumable";
  find("pay-problem").hidden = true;
  find("methods").replaceChildren(...methods.map(([method, words], index) =>
    element("label", {},
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
    onBought(transaction);
    find("pay").close();
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

// The shelf.
import { Problem, call, load } from "./api.js";
import { picture } from "./picture.js";
import { element, find, money, period, plain, types } from "./text.js";

const products = new Map();
let isCurrent = () => true;

/** The title of a product, or its id where the shelf does not have it. */
export const titleOf = (id) => products.get(id)?.title ?? id;

/** The products of a group of subscriptions that are on the shelf. */
export const productsOfGroup = (group) =>
  [...products.values()].filter((product) => product.subscription?.groupID === group);

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
export const priceOf = ({ price, subscription: terms }) => money(price) + (terms ? ` / ${period(terms.period)}` : "");

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

/** Opens the dialog that buys. */
export async function askToBuy(product) {
  const dialog = await load("./pay.js");
  dialog?.ask(product);
}

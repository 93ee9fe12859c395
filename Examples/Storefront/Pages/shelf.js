// The shelf.
import { Problem, call, load } from "./api.js";
import { picture } from "./picture.js";
import { element, find, money, period, plain, span, types } from "./text.js";

const products = new Map();
/** The groups in which this buyer may have the introductory offer. */
let eligible = new Set();
/** The products that this buyer has for good. */
let kept = new Set();
let turn = {};

/** A product on the shelf. */
export const productOf = (id) => products.get(id);

/** The title of a product, or its id where the shelf does not have it. */
export const titleOf = (id) => products.get(id)?.title ?? id;

/** Whether this buyer has a product for good, so that the store gives it again for nothing. */
export const isKept = ({ id, type }) => type === "nonConsumable" && kept.has(id);

/** Says on the shelf which products the buyer has. */
export function markKept(ids) {
  kept = new Set(ids);
  for (const [id, product] of products) {
    const kind = find("shelf").querySelector(`[data-product="${id}"] .kind`);
    if (kind) kind.textContent = kindOf(product);
  }
}

const kindOf = (product) => isKept(product) ? "You have it" : types[product.type] ?? product.type;

/** The products of a group of subscriptions that are on the shelf. */
export const productsOfGroup = (group) =>
  [...products.values()].filter((product) => product.subscription?.groupID === group);

/** Loads every page of the products that are on sale. */
export async function loadShelf() {
  const shelf = find("shelf");
  const mine = turn = {};
  eligible = new Set();
  const hadFocus = shelf.contains(document.activeElement);
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
    if (mine !== turn) return;
    products.clear();
    for (const product of found) {
      const { id, title, description } = product;
      products.set(id, { ...product, title: plain(title) || id, description: plain(description) });
    }
    await loadOffers();
    if (mine !== turn) return;
    shelf.replaceChildren(...[...products.values()].sort(inOrder).map(card));
    if (!found.length) {
      shelf.append(element("li", { class: "empty" }, "Nothing is on sale here yet."));
    }
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (mine !== turn) return;
    shelf.replaceChildren(element("li", { class: "card" },
      element("p", { class: "problem" }, `The shelf cannot be shown. ${problem.message}`),
      element("button", { type: "button", onclick: loadShelf }, "Try again")));
  }
  shelf.setAttribute("aria-busy", "false");
  if (hadFocus && document.activeElement === document.body) shelf.focus();
}

const order = Object.keys(types);
const inOrder = (one, other) =>
  order.indexOf(one.type) - order.indexOf(other.type) || one.price.minorUnits - other.price.minorUnits;

/** Asks which introductory offers this buyer may have, and shows the prices that follow. */
export async function loadOffers() {
  const mine = turn;
  const offered = [...products.values()].filter((product) => product.introductoryOffer);
  const groups = [...new Set(offered.map((product) => product.subscription.groupID))];
  try {
    const answers = await Promise.all(groups.map((group) => call("GET", `/api/introductory-offers/${group}`)));
    // Another buyer may have signed in meanwhile.
    if (mine !== turn) return;
    eligible = new Set(answers.filter((answer) => answer.isEligible).map((answer) => answer.groupID));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
  }
  for (const product of offered) {
    const price = find("shelf").querySelector(`[data-product="${product.id}"] .price`);
    if (price) price.textContent = priceOf(product);
  }
}

/** The introductory offer of a product, if this buyer may have it. */
export const offerOf = ({ introductoryOffer, subscription: terms }) =>
  introductoryOffer && eligible.has(terms.groupID) ? introductoryOffer : undefined;

/** The price, for how long a subscription has it, and what comes before. */
export function priceOf(product) {
  const { price, subscription: terms } = product;
  const ordinary = money(price) + (terms ? ` / ${period(terms.period)}` : "");
  const offer = offerOf(product);
  return offer ? `${wordsOf(offer)}, then ${ordinary}` : ordinary;
}

function wordsOf({ mode, numberOfPeriods, period: length, price }) {
  if (mode === "freeTrial") return `${span(length)} free`;
  if (mode === "payUpFront") return `${money(price)} for ${span(length)}`;
  return `${money(price)} / ${period(length)}${numberOfPeriods > 1 ? `, ${numberOfPeriods} times` : ""}`;
}

function card(product) {
  const { id, type, language, title, description } = product;
  return element("li", { class: "card", "data-product": id, "data-type": type },
    picture(product),
    element("div", { class: "about" },
      element("p", { class: "kind" }, kindOf(product)),
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

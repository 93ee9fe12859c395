// Texts for people. Nothing here ever makes HTML out of a text.

/** An element of the page. */
export const find = (id) => document.getElementById(id);

/** An element with attributes, listeners (`onclick`) and children; texts stay texts. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/** A text in one line, without signs that cannot be seen and change how the rest is read. */
export const plain = (text) => text.replace(/\s+/gu, " ").replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "").trim();

/** An amount in the buyer's own form. */
export function money({ minorUnits, currency }) {
  try {
    const format = new Intl.NumberFormat(navigator.language, { style: "currency", currency });
    return format.format(minorUnits / 10 ** format.resolvedOptions().maximumFractionDigits);
  } catch {
    return `${minorUnits} ${currency}`;
  }
}

/** A time of the store in the buyer's own form. */
export function time(milliseconds) {
  return new Intl.DateTimeFormat(navigator.language, { dateStyle: "medium", timeStyle: "short" })
    .format(milliseconds);
}

/** A number of bytes for people. */
export const size = (bytes) =>
  new Intl.NumberFormat(navigator.language, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 })
    .format(bytes / 1e6);

const units = { D: "day", W: "week", M: "month", Y: "year" };

/** The length of a subscription's period: `P1M` is "month". */
export function period(text) {
  const [, count, letter] = /^P(\d+)([DWMY])$/.exec(text) ?? [];
  if (!letter) return text;
  return count === "1" ? units[letter] : `${count} ${units[letter]}s`;
}

/** A span of time: `P1M` is "1 month". */
export const span = (text) => period(text).replace(/^(?=\D)/, "1 ");

/** The types of products, in the order of the shelf. */
export const types = {
  consumable: "Used up, so you can buy more",
  nonConsumable: "Bought once, kept for good",
  nonRenewingSubscription: "For a season, not renewed",
  autoRenewableSubscription: "Renews until you cancel",
};

/** The failures of purchases that may have been charged. */
export const refunded = ["processorRefused", "subscriptionChanged"];

/** Why a purchase has failed. */
export const failures = {
  paymentCancelled: "You cancelled the payment.",
  paymentDeclined: "The card was declined.",
  insufficientFunds: "There was not enough money.",
  approvalDeclined: "It was not approved.",
  approvalExpired: "Nobody approved it in time.",
  processorRefused: "The payment was refused.",
  storefrontChanged: "Your region has changed meanwhile.",
  paymentsNotAllowed: "This account may not pay.",
  subscriptionChanged: "The subscription changed meanwhile.",
  buyerMustAct: "Your bank wants you to confirm the payment.",
  interrupted: "You left to solve a problem; support can resume it.",
};

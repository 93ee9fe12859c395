// The receipt of a purchase: what the store signed, decoded, and what this shop's server found. Loaded when it is asked for.
import { call } from "./api.js";
import { openDialog } from "./dialog.js";
import { element, find, time } from "./text.js";

const dialog = element("dialog", { id: "receipt", "aria-labelledby": "receipt-title" },
  element("h2", { id: "receipt-title" }, "Receipt"),
  element("p", { id: "receipt-verdict" }),
  element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What the store signed" },
    element("dl", { id: "receipt-claims" })),
  element("p", { class: "acts" },
    element("a", { id: "receipt-file", download: true }, "Download (.jws)"),
    element("button", { id: "receipt-close", type: "button", onclick: () => dialog.close() }, "Close")));
document.body.append(dialog);

/** The claims of a signed transaction, which is a JWS. */
function claims(signed) {
  const text = signed.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** Opens the dialog with the receipt of a transaction. Returns the verdict on it. */
export async function showReceipt(id) {
  const verdict = await call("GET", `/api/transactions/${id}/receipt`).catch((problem) => ({ problem }));
  const isThere = Boolean(verdict.signedTransaction);
  find("receipt-verdict").dataset.verdict = verdict.isVerified ? "verified" : "refused";
  find("receipt-verdict").textContent = verdict.problem ? verdict.problem.message
    : verdict.isVerified ? "Verified: the store signed this, for this app and this purchase."
      : `Refused: ${verdict.refusal}.`;
  find("receipt-claims").replaceChildren(...Object.entries(isThere ? claims(verdict.signedTransaction) : {})
    .flatMap(([name, value]) => [
      element("dt", {}, name),
      element("dd", { dir: "auto" }, name.endsWith("Date") ? `${value} (${time(value)})` : String(value)),
    ]));
  find("receipt-file").hidden = !isThere;
  find("receipt-file").setAttribute("href", `/api/transactions/${id}/receipt.jws`);
  openDialog(dialog);
  return verdict;
}

// Hosted content: downloaded with its progress, resumed where it was cut, and compared with its digest.
// Loaded with the first such purchase.
import { Problem, pause, send } from "./api.js";

/** Downloads a content of a purchase into its row, unless it is there. `show` is called after each step. */
export async function loadContent(row, content, show) {
  const name = `${content.contentIdentifier}-${content.version}`;
  if (row.files.has(name)) return;
  row.loaded = { had: 0, length: content.length };
  show(row);
  try {
    const blob = await download(row.change.transaction.id, content, (had) => {
      row.loaded.had = had;
      show(row);
    });
    row.files.set(name, URL.createObjectURL(blob));
  } finally {
    row.loaded = undefined;
  }
}

/** Downloads the content of a transaction, and returns it as a blob. */
async function download(transactionID, content, tell) {
  const path = `/api/transactions/${transactionID}/content/${content.contentIdentifier}`;
  const parts = [];
  let had = 0;
  let tag;
  for (let wait = 500; had < content.length; wait = Math.min(wait * 2, 5000)) {
    try {
      const headers = had ? { range: `bytes=${had}-`, "if-range": tag } : {};
      const answer = await send("GET", path, { headers });
      if (answer.status !== 206) {
        // The whole content: what was there before is of no use.
        parts.length = 0;
        had = 0;
      }
      tag = answer.headers.get("etag");
      const reader = answer.body.getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        parts.push(part.value);
        had += part.value.length;
        wait = 500;
        tell(had);
      }
    } catch (problem) {
      // A stream that breaks off is a TypeError, and a service that is away a passing problem.
      if (problem instanceof Problem && !problem.isPassing) throw problem;
      await pause(wait);
    }
  }
  const blob = new Blob(parts, { type: "application/octet-stream" });
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
  if (hex(sum) !== content.sha256) {
    throw new Problem({ code: "content_damaged", detail: "The download is damaged. Press Finish to load it again." });
  }
  return blob;
}

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

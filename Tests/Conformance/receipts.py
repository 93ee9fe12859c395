"""Checks the app receipt and verifyReceipt with openssl, Apple's receipt reader and plain requests."""

import base64

import requests
from appstoreserverlibrary.receipt_utility import ReceiptUtility

from notifications import eventually
from openssl import Certificates, run


def app_receipt(store, query=""):
    answer = requests.get(
        f"{store.receipts}/v1/receipts/app{query}",
        headers={"Authorization": f"Bearer {store.facts['accountToken']}"},
        timeout=60,
    )
    return answer.headers["content-type"], answer.content


def verify(store, receipt, **more):
    body = {"receipt-data": base64.b64encode(receipt).decode()} | more
    return requests.post(f"{store.receipts}/verifyReceipt", json=body, timeout=60).json()


def receipts(store, table):
    kind, receipt = app_receipt(store)
    table.expect("GET /v1/receipts/app", "application/pkcs7-mime; smime-type=signed-data", kind)
    chain = Certificates(store.keys / "receipts/signing-chain.pem")
    (chain.path / "receipt").write_bytes(receipt)

    def believed(*arguments):
        return run(
            "cms", "-verify", "-binary", "-inform", "DER", "-in", "receipt", "-CAfile", "root.pem",
            "-purpose", "any", "-out", "content", *arguments, cwd=chain.path,
        )[0]

    table.expect("openssl cms -verify", 0, believed())
    content = (chain.path / "content").read_bytes()
    table.expect("  … again: the same but for the date of issue", len(content), len(content_of(store, chain)))
    changed = bytearray(receipt)
    changed[receipt.index(content[-40:]) + 20] ^= 1
    (chain.path / "receipt").write_bytes(changed)
    table.expect("openssl cms -verify, one byte changed", True, believed() != 0)

    mine = [store.transactions[name] for name in ["coins", "pro", "refunded", "restored", "undelivered"]]
    found = ReceiptUtility().extract_transaction_id_from_app_receipt(base64.b64encode(receipt).decode())
    table.expect("ReceiptUtility, a transaction of the receipt", True, found in mine + [store.transactions["hint"]])

    answer = verify(store, receipt)
    table.expect("verifyReceipt", (0, "Sandbox", store.bundle), (
        answer["status"], answer["environment"], answer["receipt"]["bundle_id"],
    ))
    entries = {entry["transaction_id"]: entry for entry in answer["receipt"]["in_app"]}
    table.expect("  … a non-consumable is there", True, any(e["product_id"] == "com.example.pro" for e in entries.values()))
    table.expect("  … a finished consumable is not", True, leaves_once_finished(store, store.transactions["hint"]))
    table.expect("  … a refunded one has its date", True, "cancellation_date_ms" in entries[store.transactions["refunded"]])
    texts = [value for entry in entries.values() for value in entry.values()]
    table.expect("  … all values are texts", True, all(isinstance(value, str) for value in texts))
    one = entries[store.transactions["coins"]]
    table.expect("  … dates in three forms", [True] * 3, [
        one["purchase_date"].endswith("Etc/GMT"), one["purchase_date_ms"].isdigit(),
        one["purchase_date_pst"].endswith("America/Los_Angeles"),
    ])
    table.expect("verifyReceipt, one byte changed", 21003, verify(store, bytes(changed))["status"])
    table.expect("verifyReceipt, no receipt", 21002, verify(store, b"no receipt")["status"])
    got = requests.get(f"{store.receipts}/verifyReceipt", timeout=60)
    table.expect("GET /verifyReceipt", (200, 21000), (got.status_code, got.json()["status"]))
    _, expired = app_receipt(store, "?expired=true")
    table.expect("a receipt that has expired", True, "expiration_date" in verify(store, expired)["receipt"])


def leaves_once_finished(store, transaction):
    """Finishes a transaction, and waits until receipts has learned of it."""
    store.client().finish_transaction(transaction)

    def is_gone():
        entries = verify(store, app_receipt(store)[1])["receipt"]["in_app"]
        return all(entry["transaction_id"] != transaction for entry in entries)

    return eventually(is_gone)


def content_of(store, chain):
    """Fetches another receipt of the same account, and returns its content."""
    (chain.path / "again").write_bytes(app_receipt(store)[1])
    run(
        "cms", "-verify", "-binary", "-inform", "DER", "-in", "again", "-CAfile", "root.pem",
        "-purpose", "any", "-out", "content-again", cwd=chain.path,
    )
    return (chain.path / "content-again").read_bytes()

"""Checks refunds of a part and of the rest, reversals and disputes, with Apple's client and verifier."""

import subprocess
import uuid

import requests

from notifications import Merchant, administer, eventually
from receipts import app_receipt, verify


def refunds(store, table):
    client, verifier, merchant = store.client(), store.verifier(), Merchant()
    transaction = store.transactions["parts"]
    app = f"/apps/{store.bundle}"
    administer(store, "PUT", f"{app}/notification-endpoint", {"url": merchant.url})

    def signed():
        return verifier.verify_and_decode_signed_transaction(
            client.get_transaction_info(transaction).signedTransactionInfo
        )

    def pay(path, body=None):
        answer = requests.post(
            f"{store.payments}/v1/admin/transactions/{transaction}{path}",
            headers={
                "Authorization": f"Bearer {store.facts['administratorToken']}",
                "Idempotency-Key": str(uuid.uuid4()),
            },
            json=body,
            timeout=60,
        )
        return answer.status_code in (200, 202)

    def told(kind, count):
        """Waits for some notifications of one type, and returns the transactions in them."""

        def found():
            all_told = [verifier.verify_and_decode_notification(one) for one in list(merchant.told)]
            of_kind = [one for one in all_told if one.rawNotificationType == kind]
            return of_kind if len(of_kind) >= count else None

        return [
            verifier.verify_and_decode_signed_transaction(one.data.signedTransactionInfo)
            for one in eventually(found) or []
        ]

    def refunded():
        page = client.get_refund_history(transaction, None)
        return transaction in [
            verifier.verify_and_decode_signed_transaction(one).transactionId
            for one in page.signedTransactions
        ]

    def entry():
        entries = verify(store, app_receipt(store)[1])["receipt"]["in_app"]
        return next(one for one in entries if one["transaction_id"] == transaction)

    def marks(payload):
        return (payload.rawRevocationType, payload.revocationPercentage, payload.revocationDate is not None)

    def dispute(step):
        """Has the bank take a step of a dispute. Returns the exit status of the operator's command."""
        command = [store.counterfoil, "test", "dispute", transaction, "--step", step]
        places = ["--keys", str(store.keys), "--payments-url", store.payments]
        return subprocess.run(command + places, stdout=subprocess.DEVNULL, timeout=60).returncode

    cents = signed().price // 10
    part = {"amount": {"minorUnits": cents // 4, "currency": "USD"}, "revokes": False}
    table.expect("a refund of a part is accepted", True, pay("/refund", part))
    first = told("REFUND", 1)
    share = cents // 4 * 100_000 // cents
    table.expect("  … REFUND, without a date", [("REFUND_PRORATED", share, False)], [marks(one) for one in first])
    table.expect("  … get_transaction_info", ("REFUND_PRORATED", share, False), marks(signed()))
    table.expect("  … get_refund_history", True, refunded())
    table.expect("  … verifyReceipt has no cancellation_date", False, "cancellation_date_ms" in entry())

    table.expect("a refund of the rest is accepted", True, pay("/refund"))
    second = told("REFUND", 2)
    table.expect("  … REFUND again, with a date", 1, sum(marks(one) == ("REFUND_FULL", 100_000, True) for one in second))
    table.expect("  … get_transaction_info", ("REFUND_FULL", 100_000, True), marks(signed()))
    table.expect("  … verifyReceipt has a cancellation_date", True, "cancellation_date_ms" in entry())

    for number in (2, 1):
        table.expect(f"the reversal of refund {number} is accepted", True, pay(f"/refunds/{number}/reversal"))
        told("REFUND_REVERSED", 3 - number)
    reversed_ones = told("REFUND_REVERSED", 2)
    table.expect("  … REFUND_REVERSED for each", 2, len(reversed_ones))
    table.expect("  … get_transaction_info", (None, None, False), marks(signed()))
    table.expect("  … get_refund_history", False, refunded())
    table.expect("  … verifyReceipt has the purchase back", False, "cancellation_date_ms" in entry())
    table.expect("  … REFUND came no more often", 2, len(told("REFUND", 2)))

    # The reason of a dispute is that of any refund: 0, "other". 1 would blame the app.
    table.expect("counterfoil test dispute", 0, dispute("open"))
    revoking = [one.rawRevocationReason for one in told("REFUND", 3) if one.revocationDate]
    table.expect("  … REFUND, for another reason", [0, 0], revoking)
    table.expect("  … get_transaction_info", ("REFUND_FULL", 100_000, True), marks(signed()))
    table.expect("  … get_refund_history", True, refunded())
    table.expect("  … verifyReceipt has a cancellation_date", True, "cancellation_date_ms" in entry())
    table.expect("counterfoil test dispute --step win", 0, dispute("win"))
    table.expect("  … REFUND_REVERSED", 3, len(told("REFUND_REVERSED", 3)))
    table.expect("  … get_transaction_info", (None, None, False), marks(signed()))
    table.expect("  … get_refund_history", False, refunded())
    administer(store, "DELETE", f"{app}/notification-endpoint")

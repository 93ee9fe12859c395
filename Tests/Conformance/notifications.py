"""Checks notifications and consumption with a merchant's server that receives and answers them."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.RefundPreference import RefundPreference

from table import outcome

# Every pair of type and subtype that concerns a transaction.
OF_TRANSACTIONS = [
    ("CONSUMPTION_REQUEST", None), ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"),
    ("DID_RENEW", "BILLING_RECOVERY"), ("EXPIRED", "VOLUNTARY"), ("GRACE_PERIOD_EXPIRED", None),
    ("OFFER_REDEEMED", "UPGRADE"), ("ONE_TIME_CHARGE", None), ("PRICE_INCREASE", "PENDING"),
    ("REFUND", None), ("REFUND_DECLINED", None), ("REFUND_REVERSED", None),
    ("RENEWAL_EXTENDED", None), ("RENEWAL_EXTENSION", "FAILURE"), ("REVOKE", None),
    ("SUBSCRIBED", "INITIAL_BUY"),
]


class Merchant:
    """A merchant's server. It stores what it receives, and gives the answers that it is set to give."""

    def __init__(self):
        self.told = []
        self.status = 200
        merchant = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                merchant.told.append(json.loads(body)["signedPayload"])
                self.send_response(merchant.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/notifications"


def eventually(body, seconds=60):
    """Calls the body until its result is true or the time is over. Returns the last result."""
    deadline = time.time() + seconds
    while True:
        got = body()
        if got or time.time() > deadline:
            return got
        time.sleep(0.05)


def heard(merchant, verifier, name, product, count=1):
    """Waits for notifications of a type, with its subtype if it has one, about a product.

    Apple's verifier verifies everything in them. Returns pairs of a notification and its transaction.
    """

    def found():
        pairs = []
        for payload in list(merchant.told):
            told = verifier.verify_and_decode_notification(payload)
            signed = told.data.signedTransactionInfo if told.data else None
            called = " ".join(part for part in [told.rawNotificationType, told.rawSubtype] if part)
            if signed and called == name:
                transaction = verifier.verify_and_decode_signed_transaction(signed)
                if transaction.productId == product:
                    pairs.append((told, transaction))
        return pairs if len(pairs) >= count else None

    return eventually(found) or []


def administer(store, method, path, body=None):
    return requests.request(
        method,
        f"{store.receipts}/v1/admin{path}",
        headers={"Authorization": f"Bearer {store.facts['administratorToken']}"},
        json=body,
        timeout=60,
    )


def notifications(store, table):
    client, verifier, merchant = store.client(), store.verifier(), Merchant()
    app = f"/apps/{store.bundle}"
    table.answer("request_test_notification, no endpoint", "404 4040007", client.request_test_notification)
    for url in ["ftp://merchant.example/", "nonsense"]:
        got = administer(store, "PUT", f"{app}/notification-endpoint", {"url": url})
        table.expect(f"notification-endpoint {url}", 400, got.status_code)
    got = administer(store, "PUT", f"{app}/notification-endpoint", {"url": merchant.url})
    table.expect("notification-endpoint", 200, got.status_code)

    begun = int(time.time() * 1000) - 1000
    token = client.request_test_notification().testNotificationToken
    status = eventually(
        lambda: (lambda got: None if got == "404 4040008" else got)(
            outcome(lambda: client.get_test_notification_status(token))
        )
    )
    table.expect("get_test_notification_status", "SUCCESS", status.sendAttempts[0].rawSendAttemptResult)
    told = verifier.verify_and_decode_notification(merchant.told[0])
    table.expect(
        "  … what the merchant was told, verified online",
        ("TEST", "2.0", store.bundle, store.app_apple_id, "Sandbox"),
        (
            told.rawNotificationType, told.version, told.data.bundleId, told.data.appAppleId,
            told.data.rawEnvironment,
        ),
    )
    table.expect("  … is what the status shows", merchant.told[0], status.signedPayload)
    table.answer("get_test_notification_status, no token", "400 4000020", lambda: client.get_test_notification_status("x"))
    table.answer(
        "get_test_notification_status, unknown",
        "404 4040008",
        lambda: client.get_test_notification_status("01900000-0000-7000-8000-000000000000"),
    )

    transaction = store.transactions["pro"]
    for kind, subtype in OF_TRANSACTIONS:
        before = len(merchant.told)
        body = {"notificationType": kind, "transactionId": transaction}
        if subtype:
            body["subtype"] = subtype
        sent = administer(store, "POST", f"{app}/notifications", body)
        eventually(lambda: len(merchant.told) > before)
        told = verifier.verify_and_decode_notification(merchant.told[-1])
        inner = verifier.verify_and_decode_signed_transaction(told.data.signedTransactionInfo)
        table.expect(
            f"{kind} {subtype or ''}",
            (202, kind, subtype, transaction),
            (sent.status_code, told.rawNotificationType, told.rawSubtype, inner.transactionId),
        )
    before = len(merchant.told)
    administer(store, "POST", f"{app}/notifications", {
        "notificationType": "RENEWAL_EXTENSION", "subtype": "SUMMARY",
        "summary": {
            "requestIdentifier": "r-1", "productId": "gold", "storefrontCountryCodes": ["USA"],
            "succeededCount": 2, "failedCount": 1,
        },
    })
    eventually(lambda: len(merchant.told) > before)
    summary = verifier.verify_and_decode_notification(merchant.told[-1]).summary
    table.expect("RENEWAL_EXTENSION SUMMARY", ("r-1", ["USA"], 2, 1), (
        summary.requestIdentifier, summary.storefrontCountryCodes, summary.succeededCount,
        summary.failedCount,
    ))
    administer(store, "POST", f"{app}/notifications", {
        "notificationType": "EXTERNAL_PURCHASE_TOKEN", "subtype": "UNREPORTED",
        "externalPurchaseId": "token-1",
    })
    eventually(lambda: len(merchant.told) > before + 1)
    external = verifier.verify_and_decode_notification(merchant.told[-1]).externalPurchaseToken
    table.expect("EXTERNAL_PURCHASE_TOKEN", "SANDBOX_token-1", external.externalPurchaseId)
    got = administer(store, "POST", f"{app}/notifications", {"notificationType": "NEWS"})
    table.expect("a type that there is not", (400, "notification_type_unknown"), (got.status_code, got.json()["code"]))

    failing(store, table, merchant, app)
    history(store, table, merchant, begun)


def failing(store, table, merchant, app):
    merchant.status = 500
    before = len(merchant.told)
    test = store.client().request_test_notification().testNotificationToken
    eventually(lambda: len(merchant.told) > before)
    attempt = eventually(
        lambda: (lambda got: None if got == "404 4040008" else got)(
            outcome(lambda: store.client().get_test_notification_status(test))
        )
    ).sendAttempts
    merchant.status = 200
    table.expect(
        "a merchant that answers 500, once in the Sandbox",
        ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"],
        [one.rawSendAttemptResult for one in attempt],
    )


def history(store, table, merchant, begun):
    client, verifier = store.client(), store.verifier()

    def walk(**options):
        request = NotificationHistoryRequest(
            **({"startDate": begun, "endDate": int(time.time() * 1000) + 60_000} | options)
        )
        found, token = [], None
        while True:
            page = client.get_notification_history(token, request)
            found += page.notificationHistory
            token = page.paginationToken
            if not page.hasMore:
                return [item.signedPayload for item in found]

    table.expect("get_notification_history, all pages", set(merchant.told), set(walk()))
    table.expect("  … each once", len(set(merchant.told)), len(walk()))
    table.expect(
        "  … notificationType",
        ["REFUND"],
        [
            verifier.verify_and_decode_notification(payload).rawNotificationType
            for payload in walk(notificationType=NotificationTypeV2.REFUND)
        ],
    )
    table.expect("  … onlyFailures", [merchant.told[-1]], walk(onlyFailures=True))
    table.expect("  … transactionId", len([1 for _ in OF_TRANSACTIONS]), len(walk(transactionId=store.transactions["pro"])))
    now = int(time.time() * 1000)
    good = {"startDate": begun, "endDate": now + 60_000}
    for body, code in [
        ({}, 4000015),
        ({"startDate": begun}, 4000016),
        ({"startDate": "yesterday", "endDate": now}, 4000015),
        ({"startDate": now, "endDate": begun}, 4000013),
        ({"startDate": 1, "endDate": now}, 4000012),
        (good | {"notificationType": "NEWS"}, 4000018),
        (good | {"notificationSubtype": "UPGRADE"}, 4000018),
        (good | {"notificationType": "REFUND", "transactionId": "1"}, 4000019),
        (good | {"transactionId": "abc"}, 4000006),
    ]:
        got = store.get("/inApps/v1/notifications/history", method="POST", json=body).json()
        table.expect(f"  … {str(body)[-48:]}", code, got.get("errorCode"))
    got = store.get("/inApps/v1/notifications/history?paginationToken=x", method="POST", json=good)
    table.expect("  … paginationToken=x", 4000014, got.json().get("errorCode"))
    # A token of the first place, issued at the beginning of 1970.
    got = store.get("/inApps/v1/notifications/history?paginationToken=1-1-1", method="POST", json=good)
    table.expect("  … paginationToken of long ago", 4000017, got.json().get("errorCode"))


def consumption(store, table):
    client, coins = store.client(), store.transactions["coins"]

    def words(**options):
        return ConsumptionRequest(
            **(
                {
                    "customerConsented": True, "sampleContentProvided": False,
                    "deliveryStatus": DeliveryStatus.DELIVERED, "consumptionPercentage": 50_000,
                    "refundPreference": RefundPreference.DECLINE,
                }
                | options
            )
        )

    table.answer("send_consumption_information", None, lambda: client.send_consumption_information(coins, words()))
    said = administer(store, "GET", f"/transactions/{coins}/consumption").json()
    table.expect("  … as administrators read it", (50_000, "DECLINE"), (said["consumptionPercentage"], said["refundPreference"]))
    for name, expected, transaction, request in [
        ("without consent", "400 4000035", coins, words(customerConsented=False)),
        ("of what is none", "404 4040010", "999999999", words()),
        ("of another app", "404 4040010", store.transactions["otherApp"], words()),
        ("no id", "400 4000006", "abc", words()),
    ]:
        table.answer(
            f"send_consumption_information, {name}",
            expected,
            lambda: client.send_consumption_information(transaction, request),
        )
    old = ConsumptionRequestV1(customerConsented=True, consumptionStatus=ConsumptionStatus.FULLY_CONSUMED)
    table.answer("send_consumption_data", None, lambda: client.send_consumption_data(coins, old))
    table.answer(
        "send_consumption_data, not consumable",
        "400 4000043",
        lambda: client.send_consumption_data(store.transactions["pro"], old),
    )
    path = f"/inApps/v1/transactions/consumption/{coins}"
    for field, value, code in [
        ("accountTenure", 8, 4000032), ("appAccountToken", "me", 4000033),
        ("consumptionStatus", 4, 4000034), ("deliveryStatus", 6, 4000036),
        ("lifetimeDollarsPurchased", 8, 4000037), ("lifetimeDollarsRefunded", 8, 4000038),
        ("platform", 3, 4000039), ("playTime", 8, 4000040),
        ("sampleContentProvided", 7, 4000041), ("userStatus", 5, 4000042),
    ]:
        got = store.get(path, method="PUT", json={"customerConsented": True, field: value}).json()
        table.expect(f"  … {field}={value}", code, got.get("errorCode"))

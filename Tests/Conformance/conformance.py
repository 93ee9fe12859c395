#!/usr/bin/env python3
"""Calls a store with Apple's own open-source client and with openssl, and compares the answers."""

import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import jwt
import requests
from appstoreserverlibrary.api_client import GetTransactionHistoryVersion
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import (
    Order,
    ProductType,
    TransactionHistoryRequest,
)
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509 import load_pem_x509_certificates

from families import families
from notifications import consumption, notifications
from offers import promotional_offers
from openssl import Certificates, run
from other_offers import other_offers
from receipts import receipts
from refund_requests import refund_requests
from refunds import refunds
from store import Store
from subscriptions import subscription_life
from table import Table, outcome

V1 = GetTransactionHistoryVersion.V1
V2 = GetTransactionHistoryVersion.V2


def ids(store, signed):
    """Returns the ids of signed transactions. Apple's verifier checks each one online."""
    verifier = store.verifier()
    return [verifier.verify_and_decode_signed_transaction(jws).transactionId for jws in signed]


def walk(store, call, page=lambda answer: answer.signedTransactions):
    """Reads all pages of a history. Returns the ids and the sizes of the pages."""
    found, sizes, revision = [], [], None
    while True:
        answer = call(revision)
        found += ids(store, page(answer))
        sizes.append(len(page(answer)))
        revision = answer.revision
        if not answer.hasMore:
            return found, sizes


def certificates(store, table):
    chain = Certificates(store.keys / "receipts/signing-chain.pem")
    table.expect("openssl verify -x509_strict", 0, chain.verify())
    for name, issuer in [("leaf", "intermediate"), ("intermediate", "root")]:
        url = chain.ocsp_url(name)
        table.expect(f"openssl x509 -ocsp_uri, {name}", f"{store.receipts}/ocsp", url)
        table.expect(f"openssl ocsp, {name}", "good", chain.status(name, issuer, url))
        table.expect(
            f"openssl ocsp -sha256 -no_nonce, {name}",
            "good",
            chain.status(name, issuer, url, "-sha256", "-no_nonce"),
        )
    table.expect(
        "openssl ocsp, a number never issued",
        "unknown",
        chain.status("leaf", "intermediate", url, serial="0x1234"),
    )
    request = chain.path / "request.der"
    run(
        "ocsp", "-issuer", "root.pem", "-cert", "intermediate.pem", "-no_nonce", "-reqout",
        str(request), cwd=chain.path,
    )
    encoded = base64.b64encode(request.read_bytes()).decode()
    got = requests.get(f"{url}/{requests.utils.quote(encoded, safe='')}", timeout=60)
    table.expect("GET /ocsp/{base64}", "application/ocsp-response", got.headers["content-type"])
    table.expect("GET /ocsp/{base64} may be kept", True, "max-age=" in got.headers["cache-control"])
    got = requests.post(url, data=b"no request", timeout=60)
    table.expect("POST /ocsp, bytes that are no request", "30030a0101", got.content.hex())


def verifier(store, table):
    jws = store.client().get_transaction_info(store.transactions["pro"]).signedTransactionInfo

    def verified(**options):
        return store.verifier(**options).verify_and_decode_signed_transaction(jws).productId

    table.answer("verifier, strict, online", "com.example.pro", lambda: verified())
    table.answer("verifier, strict, offline", "com.example.pro", lambda: verified(online=False))
    table.answer(
        "verifier for another app", "INVALID_APP_IDENTIFIER", lambda: verified(bundle="com.other")
    )
    table.answer(
        "verifier for production",
        "INVALID_ENVIRONMENT",
        lambda: verified(environment=Environment.PRODUCTION),
    )
    # Changes a character in the middle, because the last one may contain unused bits.
    cut = len(jws) - 40
    forged = jws[:cut] + ("A" if jws[cut] != "A" else "B") + jws[cut + 1:]
    table.answer(
        "verifier, one character of the signature changed",
        "VERIFICATION_FAILURE",
        lambda: store.verifier().verify_and_decode_signed_transaction(forged).productId,
    )


def strangers(store, table):
    """Checks data that another store's certificate chain has signed, while its responder is down."""
    with tempfile.TemporaryDirectory(prefix="counterfoil-conformance-") as folder:
        keys = Path(folder) / "keys"
        subprocess.run(
            [store.counterfoil, "keys", "create", "--directory", str(keys), "--ocsp-url",
             "http://127.0.0.1:1/ocsp"],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        chain = load_pem_x509_certificates((keys / "receipts/signing-chain.pem").read_bytes())
        root = (keys / "receipts/root.cer").read_bytes()
        jws = jwt.encode(
            {
                "bundleId": store.bundle,
                "environment": "Sandbox",
                "signedDate": int(time.time() * 1000),
            },
            (keys / "receipts/signing-key.pem").read_bytes(),
            algorithm="ES256",
            headers={"x5c": [base64.b64encode(c.public_bytes(Encoding.DER)).decode() for c in chain]},
        )

    def verified(**options):
        return store.verifier(**options).verify_and_decode_signed_transaction(jws).bundleId

    table.answer("another store's chain", "VERIFICATION_FAILURE", lambda: verified(online=False))
    table.answer("  … with its own root, offline", store.bundle, lambda: verified(root=root, online=False))
    table.answer(
        "  … with its own root, its responder away",
        "RETRYABLE_VERIFICATION_FAILURE",
        lambda: verified(root=root),
    )


def authentication(store, table):
    path = f"/inApps/v1/transactions/{store.transactions['pro']}"
    now = int(time.time())
    stranger = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    unsigned = jwt.encode({"iss": "x", "bid": store.bundle}, None, algorithm="none")
    for name, expected, token in [
        ("as Apple's client makes them", 200, store.token()),
        ("with iat", 200, store.token(iat=now)),
        ("of 60 minutes", 200, store.token(iat=now, exp=now + 3600)),
        ("of 62 minutes", 401, store.token(iat=now, exp=now + 3720)),
        ("of a day, without iat", 401, store.token(exp=now + 86400)),
        ("that expired a moment ago", 200, store.token(exp=now - 1)),
        ("that expired a minute ago", 401, store.token(exp=now - 61)),
        ("without exp", 401, store.token(exp=None)),
        ("for another audience", 401, store.token(aud="appstoreconnect-v2")),
        ("of another issuer", 401, store.token(iss=str(uuid.uuid4()))),
        ("without bid", 401, store.token(bid=None)),
        ("for an app that is not the key's", 401, store.token(bid="com.other.app")),
        ("for what is no app", 400, store.token(bid="no app")),
        ("of an unknown key", 401, store.token(header={"kid": "NOBODY"})),
        ("signed by a stranger", 401, store.token(key=stranger)),
        ("that is unsigned", 401, unsigned),
        ("that is no token", 401, "nonsense"),
    ]:
        table.expect(f"token {name}", expected, store.get(path, token).status_code)
    table.expect(
        "  … for what is no app, its number",
        {"errorCode": 4000002, "errorMessage": "Invalid request app identifier."},
        store.get(path, store.token(bid="no app")).json(),
    )
    refused = store.get(path, "nonsense")
    table.expect("a refused token is answered with nothing", b"", refused.content)


def transactions(store, table):
    client = store.client()
    for name in ["coins", "pro", "hint", "restored", "refunded"]:
        wanted = store.transactions[name]
        table.answer(
            f"get_transaction_info, {name}",
            wanted,
            lambda: ids(store, [client.get_transaction_info(wanted).signedTransactionInfo])[0],
        )
    refunded = store.verifier().verify_and_decode_signed_transaction(
        client.get_transaction_info(store.transactions["refunded"]).signedTransactionInfo
    )
    table.expect("  … revocationType of what was refunded", "REFUND_FULL", refunded.rawRevocationType)
    table.expect("  … environment", "Sandbox", refunded.rawEnvironment)
    answer = store.get("/inApps/v1/transactions/999999999")
    table.expect("an error's Content-Type", "application/json", answer.headers["content-type"])
    table.expect(
        "an error's body",
        {"errorCode": 4040010, "errorMessage": "Transaction id not found."},
        answer.json(),
    )
    table.answer("get_transaction_info, unknown", "404 4040010", lambda: client.get_transaction_info("999999999"))
    table.answer("get_transaction_info, no id", "400 4000006", lambda: client.get_transaction_info("abc"))
    table.answer(
        "get_transaction_info, of another app",
        "404 4040010",
        lambda: client.get_transaction_info(store.transactions["otherApp"]),
    )


def finishing(store, table):
    client = store.client()
    undelivered = store.transactions["undelivered"]
    table.answer("finish_transaction before delivery", "400 4000000", lambda: client.finish_transaction(undelivered))
    hint = store.transactions["hint"]
    table.answer("finish_transaction", None, lambda: client.finish_transaction(hint))
    table.answer("finish_transaction again", None, lambda: client.finish_transaction(hint))
    table.answer("finish_transaction, unknown", "404 4040010", lambda: client.finish_transaction("999999999"))
    table.answer(
        "finish_transaction, of another app",
        "404 4040010",
        lambda: client.finish_transaction(store.transactions["otherApp"]),
    )
    table.answer("finish_transaction, failed payment", "404 4040010", lambda: client.finish_transaction(store.transactions["failed"]))

    def history(version):
        request = TransactionHistoryRequest()
        found, _ = walk(store, lambda r: client.get_transaction_history(hint, r, request, version))
        return hint in found

    # Receipts learns of the finish from an event, a moment later.
    deadline = time.time() + 60
    while history(V1) and time.time() < deadline:
        time.sleep(0.1)
    table.expect("finished consumable, history v1", False, history(V1))
    table.expect("finished consumable, history v2", True, history(V2))
    table.answer(
        "finished consumable, get_transaction_info",
        hint,
        lambda: ids(store, [client.get_transaction_info(hint).signedTransactionInfo])[0],
    )


def histories(store, table):
    client = store.client()
    many = store.facts["manyTransactions"]
    first = many[0]

    def all_of(version=V2, **options):
        request = TransactionHistoryRequest(**options)
        return walk(store, lambda r: client.get_transaction_history(first, r, request, version))

    found, sizes = all_of()
    table.expect("get_transaction_history v2, all pages", many, found)
    table.expect("  … sizes of the pages", [20, 20, len(many) - 40], sizes)
    found, _ = all_of(sort=Order.DESCENDING)
    table.expect("  … sort DESCENDING", many[::-1], found)
    table.expect("  … productIds", many, all_of(productIds=["com.example.hint", "com.example.pro"])[0])
    table.expect("  … productIds, another", [], all_of(productIds=["com.example.pro"])[0])
    table.expect("  … productTypes", many, all_of(productTypes=[ProductType.CONSUMABLE])[0])
    table.expect("  … productTypes, another", [], all_of(productTypes=[ProductType.NON_CONSUMABLE])[0])
    table.expect("  … revoked false", many, all_of(revoked=False)[0])
    table.expect("  … revoked true", [], all_of(revoked=True)[0])
    table.expect("  … inAppOwnershipType", many, all_of(inAppOwnershipType=InAppOwnershipType.PURCHASED)[0])
    table.expect(
        "  … inAppOwnershipType, family",
        [],
        all_of(inAppOwnershipType=InAppOwnershipType.FAMILY_SHARED)[0],
    )
    now = int(time.time() * 1000)
    table.expect("  … startDate, endDate", many, all_of(startDate=now - 3_600_000, endDate=now + 3_600_000)[0])
    table.expect("  … endDate of an hour ago", [], all_of(endDate=now - 3_600_000)[0])

    page = client.get_transaction_history(first, None, TransactionHistoryRequest(), V2)
    table.expect("  … bundleId, appAppleId", (store.bundle, store.app_apple_id), (page.bundleId, page.appAppleId))
    table.expect("  … environment", "Sandbox", page.rawEnvironment)
    path = f"/inApps/v2/history/{first}"
    for query, code in [
        ("startDate=yesterday", 4000015),
        ("endDate=-1", 4000016),
        ("startDate=2&endDate=1", 4000013),
        ("startDate=1&startDate=1", 4000015),
        ("productId=a%20b", 4000023),
        ("productType=THING", 4000022),
        ("sort=UP", 4000021),
        ("sort=ASCENDING&sort=ASCENDING", 4000021),
        ("subscriptionGroupIdentifier=", 4000024),
        ("inAppOwnershipType=STOLEN", 4000026),
        ("revoked=maybe", 4000030),
        ("revoked=true&excludeRevoked=true", 4000025),
        ("revision=0", 4000005),
        (f"revision={page.revision}&sort=DESCENDING", 4000005),
    ]:
        table.expect(f"  … {query[:50]}", code, store.get(f"{path}?{query}").json().get("errorCode"))
    table.answer(
        "get_transaction_history, unknown",
        "404 4040010",
        lambda: client.get_transaction_history("999999999", None, TransactionHistoryRequest(), V2),
    )
    found, _ = walk(
        store, lambda r: client.get_refund_history(store.transactions["coins"], r)
    )
    table.expect("get_refund_history", [store.transactions["refunded"]], found)
    table.answer("get_refund_history, wrong revision", "400 4000005", lambda: client.get_refund_history(first, "x"))


def accounts(store, table):
    client = store.client()
    pro = store.transactions["pro"]
    token = str(uuid.uuid4())
    table.answer(
        "set_app_account_token",
        None,
        lambda: client.set_app_account_token(pro, UpdateAppAccountTokenRequest(token.upper())),
    )
    for name in ["pro", "restored"]:
        decoded = store.verifier().verify_and_decode_signed_transaction(
            client.get_transaction_info(store.transactions[name]).signedTransactionInfo
        )
        table.expect(f"  … appAccountToken of {name}", token, decoded.appAccountToken)
    for name, expected, transaction, value in [
        ("no UUID", "400 4000183", pro, "me"),
        ("not the original", "400 4000187", store.transactions["restored"], token),
        ("unknown", "404 4040010", "999999999", token),
        ("of another app", "404 4040010", store.transactions["otherApp"], token),
    ]:
        table.answer(
            f"set_app_account_token, {name}",
            expected,
            lambda: client.set_app_account_token(transaction, UpdateAppAccountTokenRequest(value)),
        )
    app = store.verifier().verify_and_decode_app_transaction(
        client.get_app_transaction_info(pro).signedAppTransactionInfo
    )
    table.expect("get_app_transaction_info", (store.bundle, store.app_apple_id), (app.bundleId, app.appAppleId))
    decoded = store.verifier().verify_and_decode_signed_transaction(
        client.get_transaction_info(pro).signedTransactionInfo
    )
    table.expect("  … appTransactionId, as in transactions", decoded.appTransactionId, app.appTransactionId)
    table.answer(
        "get_transaction_history by app transaction",
        True,
        lambda: pro in walk(
            store,
            lambda r: client.get_transaction_history(
                app.appTransactionId, r, TransactionHistoryRequest(), V2
            ),
        )[0],
    )
    table.answer(
        "get_transaction_info, app transaction",
        "400 4000048",
        lambda: client.get_transaction_info(app.appTransactionId),
    )
    order = store.facts["orderID"]
    found = client.look_up_order_id(order)
    table.expect(f"look_up_order_id, {order}", (0, [pro]), (found.rawStatus, ids(store, found.signedTransactions)))
    wrong = client.look_up_order_id(order[:-1] + ("0" if order[-1] != "0" else "1"))
    table.expect("look_up_order_id, unknown", (1, []), (wrong.rawStatus, wrong.signedTransactions))


def subscriptions(store, table):
    client = store.client()
    pro = store.transactions["pro"]
    answer = client.get_all_subscription_statuses(pro, [Status.ACTIVE, Status.REVOKED])
    table.expect("get_all_subscription_statuses", ([], store.bundle), (answer.data, answer.bundleId))
    got = store.get(f"/inApps/v1/subscriptions/{pro}?status=9").json()
    table.expect("  … status=9", 4000031, got["errorCode"])

    def extension(days=30, reason=ExtendReasonCode.OTHER, identifier="r-1"):
        return ExtendRenewalDateRequest(days, reason, requestIdentifier=identifier)

    for name, expected, transaction, request in [
        ("no subscription", "403 4030004", pro, extension()),
        ("91 days", "400 4000009", pro, extension(days=91)),
        ("no identifier", "400 4000011", pro, extension(identifier="")),
        ("unknown", "404 4040005", "999999999", extension()),
        ("newer than all", "404 4040005", "699999999999999999", extension()),
        ("no id", "400 4000008", "abc", extension()),
    ]:
        table.answer(
            f"extend_subscription_renewal_date, {name}",
            expected,
            lambda: client.extend_subscription_renewal_date(transaction, request),
        )

    def mass(product="com.example.pro", storefronts=None):
        return client.extend_renewal_date_for_all_active_subscribers(
            MassExtendRenewalDateRequest(
                extendByDays=30,
                extendReasonCode=ExtendReasonCode.OTHER,
                requestIdentifier="r-1",
                storefrontCountryCodes=storefronts,
                productId=product,
            )
        )

    table.answer("extend … for_all, no subscription product", "400 4000023", lambda: mass())
    table.answer("extend … for_all, no storefront", "400 4000027", lambda: mass(storefronts=[]))
    table.answer("extend … for_all, wrong storefront", "400 4000028", lambda: mass(storefronts=["US"]))
    table.answer(
        "get_status_of_subscription_renewal_date_extensions",
        "404 4040009",
        lambda: client.get_status_of_subscription_renewal_date_extensions("r-1", "com.example.pro"),
    )


def rate_limit(store, table):
    token = store.token(
        key=store.private_key(store.busy_key),
        header={"kid": store.busy_key},
        iss=store.issuer(store.busy_key),
    )
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {token}"
    url = f"{store.receipts}/inApps/v1/transactions/999999999"

    def drain():
        for _ in range(2000):
            answer = session.get(url, timeout=60)
            if answer.status_code != 404:
                return answer
        return answer

    answer = drain()
    table.expect("many requests of one key at once", (429, 4290000), (answer.status_code, answer.json()["errorCode"]))
    table.expect("  … says when to ask again", "1", answer.headers.get("retry-after"))
    busy = store.client(store.busy_key)

    def limited():
        # Meanwhile enough time may have passed for one more request.
        for _ in range(10):
            drain()
            got = outcome(lambda: busy.get_transaction_info("999999999"))
            if got != "404 4040010":
                return got
        return got

    table.expect("  … Apple's client is told the same", "429 4290000", limited())
    table.answer(
        "  … another key is not slowed",
        "404 4040010",
        lambda: store.client().get_transaction_info("999999999"),
    )


def revocation(store, table):
    """Rotates and then revokes the leaf that has signed everything. This group comes last."""
    jws = store.client().get_transaction_info(store.transactions["pro"]).signedTransactionInfo
    chain = Certificates(store.keys / "receipts/signing-chain.pem")

    def operate(*arguments):
        return subprocess.run(
            [store.counterfoil, "keys", *arguments, "--directory", str(store.keys)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def verified(online=True):
        return store.verifier(online).verify_and_decode_signed_transaction(jws).productId

    rotated = operate("rotate", "--json")
    table.expect("counterfoil keys rotate", 0, rotated.returncode)
    table.answer("what the leaf before has signed, online", "com.example.pro", verified)
    after = Certificates(store.keys / "receipts/signing-chain.pem")
    table.expect("openssl verify, the next leaf", 0, after.verify())
    url = after.ocsp_url("leaf")

    def eventually(certificates, wanted):
        # The responder reads its files once a second.
        deadline = time.time() + 60
        while True:
            got = certificates.status("leaf", "intermediate", url)
            if got == wanted or time.time() > deadline:
                return got
            time.sleep(0.2)

    table.expect("openssl ocsp, the next leaf", "good", eventually(after, "good"))
    retired = json.loads(rotated.stdout)["retired"]
    revoked = operate("revoke", "--serial", retired, "--reason", "keyCompromise")
    table.expect("counterfoil keys revoke", 0, revoked.returncode)
    table.expect("openssl ocsp, the leaf before", "revoked", eventually(chain, "revoked"))
    table.expect("openssl ocsp, the next leaf", "good", eventually(after, "good"))
    table.answer("what the revoked leaf has signed, online", "VERIFICATION_FAILURE", verified)
    table.answer("what the revoked leaf has signed, offline", "com.example.pro", lambda: verified(online=False))

GROUPS = {
    "certificates": certificates,
    "verifier": verifier,
    "strangers": strangers,
    "authentication": authentication,
    "transactions": transactions,
    "finishing": finishing,
    "histories": histories,
    "accounts": accounts,
    "receipts": receipts,
    "subscriptions": subscriptions,
    "notifications": notifications,
    "consumption": consumption,
    "refunds": refunds,
    "refund-requests": refund_requests,
    "subscription-life": subscription_life,
    "other-offers": other_offers,
    "offers": promotional_offers,
    "families": families,
    "rate-limit": rate_limit,
    "revocation": revocation,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", help="the JSON file that describes the store")
    parser.add_argument("--only", choices=GROUPS, help="one group of rows")
    arguments = parser.parse_args()
    store = Store(arguments.store)
    table = Table(sys.stdout.isatty() and "NO_COLOR" not in os.environ)
    for name, group in GROUPS.items():
        if arguments.only in (None, name):
            table.group(name)
            try:
                group(store, table)
            except Exception as error:
                # An exception counts as a failed row, and the other groups continue.
                table.expect(f"{name}, to its end", "no exception", f"{type(error).__name__}: {error}")
    return table.finish()


if __name__ == "__main__":
    sys.exit(main())

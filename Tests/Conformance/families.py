"""Follows a purchase and a subscription that a family shares, until the family ends."""

from appstoreserverlibrary.api_client import GetTransactionHistoryVersion
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest

from notifications import administer, eventually, heard
from other_offers import bought, money, sell
from subscriptions import Life

FILM, MAGAZINE = "com.example.film", "com.example.magazine"
PRICE = 999


def holding(transaction):
    """What a transaction says of who has it."""
    return (transaction.rawInAppOwnershipType, transaction.price, transaction.revocationDate)


def families(store, table):
    life, client = Life(store), store.client()
    draft = {
        "type": "nonConsumable",
        "isFamilyShareable": True,
        "prices": {"USA": money(PRICE)},
        "localizations": {"en": {"title": "A film", "description": "For the whole family."}},
    }
    url = f"{store.facts['catalogURL']}/v1/admin/products/{FILM}"
    life.call("PUT", url, store.facts["administratorToken"], draft).raise_for_status()
    family = {"bundleID": store.bundle, "organizer": "ada", "members": ["ben"]}
    made = life.administer("POST", "/families", family).json()["family"]["id"]
    own = bought(life, FILM)["id"]

    def signed(transaction):
        return life.verifier.verify_and_decode_signed_transaction(client.get_transaction_info(transaction).signedTransactionInfo)

    purchases = {transaction.rawInAppOwnershipType: transaction for _, transaction in heard(life.merchant, life.verifier, "ONE_TIME_CHARGE", FILM, 2)}
    table.expect("a purchase of a family, ONE_TIME_CHARGE", ["FAMILY_SHARED", "PURCHASED"], sorted(purchases))
    share = purchases["FAMILY_SHARED"]
    table.expect("  … the organizer's", own, purchases["PURCHASED"].transactionId)
    table.expect("  … the member's is another one", (True, share.transactionId), (share.transactionId != own, share.originalTransactionId))
    table.expect("  … and costs nothing", 0, share.price)
    table.expect("  … is of another account", True, share.appTransactionId != purchases["PURCHASED"].appTransactionId)
    for name, transaction in [("FAMILY_SHARED", share.transactionId), ("PURCHASED", own)]:
        table.expect(f"get_transaction_info, {name}", name, signed(transaction).rawInAppOwnershipType)

    def history(ownership, product=FILM):
        request = TransactionHistoryRequest(inAppOwnershipType=ownership, productIds=[product])
        page = client.get_transaction_history(share.transactionId, None, request, GetTransactionHistoryVersion.V2)
        return [life.verifier.verify_and_decode_signed_transaction(one).transactionId for one in page.signedTransactions]

    table.expect("get_transaction_history, FAMILY_SHARED", [share.transactionId], history(InAppOwnershipType.FAMILY_SHARED))
    table.expect("  … PURCHASED", [], history(InAppOwnershipType.PURCHASED))

    def periods(count):
        """The periods that the member has of the magazine, once there are so many."""

        def shared():
            found = history(InAppOwnershipType.FAMILY_SHARED, MAGAZINE)
            return found if len(found) >= count else None

        return [signed(one) for one in eventually(shared) or []]

    def both(name):
        """What the merchant's server hears of the magazine: of whom, why, and whether with renewal info."""
        pairs = heard(life.merchant, life.verifier, name, MAGAZINE, 2)
        return sorted((one.rawInAppOwnershipType, one.rawTransactionReason, told.data.signedRenewalInfo is not None) for told, one in pairs)

    def buyer_and_member(reason):
        return [("FAMILY_SHARED", reason, False), ("PURCHASED", reason, True)]

    sell(life, MAGAZINE, "press", isFamilyShareable=True)
    subscription = bought(life, MAGAZINE)["id"]
    table.expect("a subscription of a family", [("FAMILY_SHARED", 0, None)], [holding(one) for one in periods(1)])
    table.expect("  … SUBSCRIBED, for the buyer and the member", buyer_and_member("PURCHASE"), both("SUBSCRIBED INITIAL_BUY"))
    table.expect("  … the clock is advanced", True, life.advance("32d"))
    shares = periods(2)
    table.expect("  … its renewal", [("FAMILY_SHARED", 0, None)] * 2, [holding(one) for one in shares])
    table.expect("  … DID_RENEW, for the buyer and the member", buyer_and_member("RENEWAL"), both("DID_RENEW"))
    table.expect("  … all periods have the first one's id", {shares[0].transactionId}, {one.originalTransactionId for one in shares})
    running = max(shares, key=lambda one: one.expiresDate).transactionId
    table.expect("  … the member paid nothing", [], history(InAppOwnershipType.PURCHASED, MAGAZINE))

    life.administer("POST", f"/families/{made}/end", {"reason": "They parted."})
    ended = [(one.transactionId, one.rawRevocationType) for _, one in heard(life.merchant, life.verifier, "REVOKE", MAGAZINE)]
    table.expect("the family ends, REVOKE of the running period", [(running, "FAMILY_REVOKE")], ended)
    revoked = [transaction for _, transaction in heard(life.merchant, life.verifier, "REVOKE", FILM)]
    table.expect("  … REVOKE of the purchase", [share.transactionId], [one.transactionId for one in revoked])
    table.expect("  … revocationType", ["FAMILY_REVOKE"], [one.rawRevocationType for one in revoked])
    table.expect("  … revocationDate", [True], [one.revocationDate is not None for one in revoked])
    table.expect("  … get_transaction_info", "FAMILY_REVOKE", eventually(lambda: signed(share.transactionId).rawRevocationType))
    table.expect("  … the organizer keeps it", None, signed(own).revocationDate)
    # Other rows advance the clock, and would hear of its renewals.
    life.administer("POST", f"/test/subscriptions/{subscription}/expiry", {})
    table.expect("the organizer's subscription ends", 1, len(heard(life.merchant, life.verifier, "EXPIRED", MAGAZINE)))
    administer(store, "DELETE", f"/apps/{store.bundle}/notification-endpoint")

"""Follows a subscription as a merchant's server does, while the store's clock is advanced."""

import time
import uuid

import requests
from appstoreserverlibrary.api_client import GetTransactionHistoryVersion
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.TransactionHistoryRequest import ProductType, TransactionHistoryRequest

from notifications import Merchant, administer, eventually
from receipts import app_receipt, verify

GROUP = "life"
# A higher level is a lower service.
PRODUCTS = {"com.example.life.gold": (1, 1999), "com.example.life.silver": (2, 999), "com.example.life.bronze": (3, 499)}
GOLD, SILVER, BRONZE = PRODUCTS
NAME = "pro.life"


class Life:
    """Calls of the buyer and the administrator, and the notifications that the merchant has received."""

    def __init__(self, store):
        self.store = store
        self.merchant = Merchant()
        self.verifier = store.verifier()
        administer(store, "PUT", f"/apps/{store.bundle}/notification-endpoint", {"url": self.merchant.url})
        self.seen = 0

    def call(self, method, url, token, body=None, key=None):
        return requests.request(
            method,
            url,
            headers={"Authorization": f"Bearer {token}", "Idempotency-Key": key or str(uuid.uuid4())},
            json=body,
            timeout=60,
        )

    def administer(self, method, path, body=None, key=None):
        return self.call(method, f"{self.store.payments}/v1/admin{path}", self.store.facts["administratorToken"], body, key)

    def buyer(self, method, path, body=None):
        return self.call(method, f"{self.store.payments}/v1{path}", self.store.facts["accountToken"], body)

    def sell(self):
        for product, (_, price) in PRODUCTS.items():
            self.price(product, price)

    def price(self, product, cents, storefront="USA", currency="USD"):
        """Sells a product at this price, and in this storefront alone."""
        draft = {
            "type": "autoRenewableSubscription",
            "prices": {storefront: {"minorUnits": cents, "currency": currency}},
            "localizations": {"en": {"title": product, "description": "For life."}},
            "subscription": {"groupID": GROUP, "level": PRODUCTS[product][0], "period": "P1M"},
            "entitlements": [NAME],
        }
        self.call("PUT", f"{self.store.facts['catalogURL']}/v1/admin/products/{product}", self.store.facts["administratorToken"], draft)

    def raise_price(self, subscription, cents):
        """Raises the price of one subscription to silver, as far as the catalog's price allows."""
        body = {"productID": SILVER, "price": {"minorUnits": cents, "currency": "USD"}}
        return self.administer("PUT", f"/subscriptions/{subscription}/price-increase", body)

    def test(self, **wishes):
        """Sets what the sandbox does with the buyer's account."""
        self.administer("PUT", "/test/accounts/ada", {"bundleID": self.store.bundle} | wishes)

    def buy(self, product, method="sandbox_success"):
        """Buys a product. Returns the transaction's id. Payments may learn of a new product a moment later."""
        body = {
            "paymentMethod": method, "price": {"minorUnits": PRODUCTS[product][1], "currency": "USD"},
            "productID": product, "quantity": 1, "storefront": "USA",
        }

        def bought():
            answer = self.buyer("POST", "/payments", body)
            return answer.json()["transaction"]["id"] if answer.status_code == 201 else None

        return eventually(bought)

    def advance(self, span):
        key = str(uuid.uuid4())

        def begun():
            answer = self.administer("POST", "/clock/advance", {"by": span}, key)
            return answer.json() if answer.status_code < 300 else None

        target = eventually(begun)["target"]

        def ended():
            clock = self.administer("GET", "/clock").json()
            return clock["status"] == "ready" and clock["now"] >= target

        return eventually(ended, 120)

    def told(self, count):
        """The next notifications, ordered by date. Apple's verifier verifies everything in them."""
        eventually(lambda: len(self.merchant.told) >= self.seen + count, 60)
        told = [self.verifier.verify_and_decode_notification(one) for one in self.merchant.told[self.seen:]]
        self.seen = len(self.merchant.told)
        return sorted(told, key=lambda one: one.signedDate)

    def expect(self, table, call, *expected):
        """One row for each notification: its type, subtype and status, and the status of its renewal info."""
        told = self.told(len(expected))
        table.expect(call, list(expected), [kind(one) for one in told])
        infos = [self.verifier.verify_and_decode_renewal_info(one.data.signedRenewalInfo) for one in told]
        transactions = [self.verifier.verify_and_decode_signed_transaction(one.data.signedTransactionInfo) for one in told]
        for info, transaction in zip(infos, transactions):
            same = (info.originalTransactionId, info.appTransactionId)
            table.expect("  … its renewal info and its transaction", same, (transaction.originalTransactionId, transaction.appTransactionId))
        return (infos[-1], transactions[-1]) if told else (None, None)


def kind(told):
    parts = [told.rawNotificationType, told.rawSubtype, str(told.data.rawStatus)]
    return " ".join(part for part in parts if part)


def subscription_life(store, table):
    life, client = Life(store), store.client()
    life.sell()
    life.administer("POST", "/clock/freeze", {})
    first = life.buy(SILVER)
    info, bought = life.expect(table, "a subscription is bought", "SUBSCRIBED INITIAL_BUY 1")
    table.expect("  … the next renewal", (SILVER, 1, 9990, "USD"), (info.autoRenewProductId, info.rawAutoRenewStatus, info.renewalPrice, info.currency))
    table.expect("  … its transaction", (first, GROUP, True, None), (bought.transactionId, bought.subscriptionGroupIdentifier, bought.webOrderLineItemId != first, bought.isUpgraded))
    for is_on, name, status in [(False, "DISABLED", 0), (True, "ENABLED", 1)]:
        life.buyer("PUT", f"/subscriptions/{first}/auto-renew", {"isOn": is_on})
        info, _ = life.expect(table, f"auto-renew: {is_on}", f"DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_{name} 1")
        table.expect("  … autoRenewStatus", status, info.rawAutoRenewStatus)
    for product, name in [(BRONZE, "DID_CHANGE_RENEWAL_PREF DOWNGRADE 1"), (SILVER, "DID_CHANGE_RENEWAL_PREF 1")]:
        life.buyer("PUT", f"/subscriptions/{first}/product", {"productID": product})
        info, _ = life.expect(table, f"the next product: {product}", name)
        table.expect("  … autoRenewProductId", product, info.autoRenewProductId)

    # If no time has passed, an upgrade gives the whole price back, which revokes the period.
    life.advance("1d")
    second = life.buy(GOLD)
    _, upgrade = life.expect(table, "an upgrade", "DID_CHANGE_RENEWAL_PREF UPGRADE 1")
    table.expect("  … begins another transaction", (second, first), (upgrade.transactionId, upgrade.originalTransactionId))

    def signed(transaction):
        return life.verifier.verify_and_decode_signed_transaction(client.get_transaction_info(transaction).signedTransactionInfo)

    table.expect("  … and the period before isUpgraded", (True, None), (signed(first).isUpgraded, signed(first).revocationDate))
    table.expect("the clock is advanced", True, life.advance("31d"))
    _, renewal = life.expect(table, "a renewal", "DID_RENEW 1")
    third = renewal.transactionId
    reads(store, table, life, [first, second, third])

    life.administer("POST", f"/transactions/{third}/refund")
    _, refunded = life.expect(table, "a refund", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED 5", "REFUND 5")
    table.expect("  … revokes the period", (third, True), (refunded.transactionId, refunded.revocationDate is not None))
    table.expect("  … and what it gave", [], named(store))
    life.administer("POST", f"/transactions/{third}/refunds/1/reversal")
    _, back = life.expect(table, "its reversal", "REFUND_REVERSED 1")
    table.expect("  … gives the period back", None, back.revocationDate)
    life.advance("31d")
    info, _ = life.expect(table, "the end", "EXPIRED VOLUNTARY 2")
    table.expect("  … expirationIntent", 1, info.rawExpirationIntent)

    life.buy(SILVER, "sandbox_renewal_recovers")
    info, _ = life.expect(table, "a purchase after the end", "SUBSCRIBED RESUBSCRIBE 1")
    table.expect("  … continues the subscription", first, info.originalTransactionId)
    life.advance("34d")
    life.expect(table, "a renewal that fails and recovers", "DID_FAIL_TO_RENEW 3", "DID_RENEW BILLING_RECOVERY 1")
    extensions(store, table, life, first)
    unpaid(table, life)
    price_increases(table, life, first)
    not_for_sale(table, life, first)
    administer(store, "DELETE", f"/apps/{store.bundle}/notification-endpoint")


def extensions(store, table, life, first):
    """Extends the subscription alone, and then with all subscribers of its product."""
    client = store.client()
    latest = client.get_all_subscription_statuses(first).data[0].lastTransactions[0].signedTransactionInfo
    before = life.verifier.verify_and_decode_signed_transaction(latest)

    def extend(transaction=first, days=3, identifier="one"):
        request = ExtendRenewalDateRequest(days, ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier=identifier)
        return client.extend_subscription_renewal_date(transaction, request)

    def days(end):
        return round((end - before.expiresDate) / 86_400_000)

    made = extend()
    table.expect(
        "extend_subscription_renewal_date",
        (first, before.webOrderLineItemId, True, 3),
        (made.originalTransactionId, made.webOrderLineItemId, made.success, days(made.effectiveDate)),
    )
    _, extended = life.expect(table, "an extension", "RENEWAL_EXTENDED 1")
    table.expect("  … signs the period again", (before.transactionId, made.effectiveDate), (extended.transactionId, extended.expiresDate))
    table.expect("  … and is made once", made.effectiveDate, extend().effectiveDate)
    table.answer("  … whose identifier means the same", "400 4000011", lambda: extend(days=4))
    table.answer("  … not by a renewal's id", "400 4000187", lambda: extend(before.transactionId))

    def all_of(number):
        return MassExtendRenewalDateRequest(
            extendByDays=number, extendReasonCode=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE, requestIdentifier="all", productId=SILVER
        )

    answer = client.extend_renewal_date_for_all_active_subscribers(all_of(2))
    table.expect("extend_renewal_date_for_all_active_subscribers", "all", answer.requestIdentifier)

    def complete():
        status = client.get_status_of_subscription_renewal_date_extensions("all", SILVER)
        return status if status.complete else None

    status = eventually(complete)
    table.expect("  … its status", (1, 0, True), (status.succeededCount, status.failedCount, status.completeDate is not None))
    told = life.told(2)
    table.expect("  … its notifications", ["RENEWAL_EXTENDED", "RENEWAL_EXTENSION"], sorted(one.rawNotificationType for one in told))
    summary = next(one.summary for one in told if one.summary)
    table.expect("  … its summary", ("all", SILVER, 1, 0), (summary.requestIdentifier, summary.productId, summary.succeededCount, summary.failedCount))
    table.answer("  … whose identifier means the same", "400 4000011", lambda: client.extend_renewal_date_for_all_active_subscribers(all_of(3)))
    table.answer("a third extension within a year", "403 4030005", lambda: extend(identifier="three"))


def unpaid(table, life):
    """Lets the subscription run out of money: grace, billing retry, the end."""
    life.test(hasGracePeriod=True, declinesRenewals=True)
    life.advance("36d")
    info, _ = life.expect(table, "a renewal that fails, with a grace period", "DID_FAIL_TO_RENEW GRACE_PERIOD 4")
    table.expect("  … its end and the reason", (True, True, 2), (info.gracePeriodExpiresDate is not None, info.isInBillingRetryPeriod, info.rawExpirationIntent))
    life.advance("16d")
    info, _ = life.expect(table, "the end of the grace period", "GRACE_PERIOD_EXPIRED 3")
    table.expect("  … the store still tries", True, info.isInBillingRetryPeriod)
    life.advance("60d")
    info, _ = life.expect(table, "the end of billing retry", "EXPIRED BILLING_RETRY 2")
    table.expect("  … the store does not try any more", (False, 2), (info.isInBillingRetryPeriod, info.rawExpirationIntent))
    life.test()


def price_increases(table, life, first):
    """Tells the subscriber of a higher price, and asks about two more: one is agreed to, one not answered."""
    life.buy(SILVER)
    life.expect(table, "another purchase after the end", "SUBSCRIBED RESUBSCRIBE 1")

    # Less than half of the price before, so that nobody has to agree.
    life.price(SILVER, 1299)
    eventually(lambda: life.raise_price(first, 1299).status_code < 300)
    life.advance("2d")
    info, _ = life.expect(table, "a higher price without a question", "PRICE_INCREASE ACCEPTED 1")
    table.expect("  … priceIncreaseStatus and renewalPrice", (1, 12990), (info.rawPriceIncreaseStatus, info.renewalPrice))
    life.advance("32d")
    info, renewal = life.expect(table, "a renewal that costs it", "DID_RENEW 1")
    table.expect("  … price", (12990, None), (renewal.price, info.rawPriceIncreaseStatus))

    def ask(cents):
        life.price(SILVER, cents)
        life.administer("POST", f"/test/subscriptions/{first}/price-increase", {"price": {"minorUnits": cents, "currency": "USD"}})
        info, _ = life.expect(table, f"a question about {cents} cents", "PRICE_INCREASE PENDING 1")
        table.expect("  … priceIncreaseStatus", 0, info.rawPriceIncreaseStatus)

    ask(3996)
    life.buyer("PUT", f"/subscriptions/{first}/price-increase", {"decision": "agree"})
    info, _ = life.expect(table, "the subscriber agrees", "PRICE_INCREASE ACCEPTED 1")
    table.expect("  … priceIncreaseStatus and renewalPrice", (1, 39960), (info.rawPriceIncreaseStatus, info.renewalPrice))
    life.advance("32d")
    _, renewal = life.expect(table, "a renewal at the higher price", "DID_RENEW 1")
    table.expect("  … price", 39960, renewal.price)
    ask(15984)
    life.advance("32d")
    info, _ = life.expect(table, "no answer until the end", "EXPIRED PRICE_INCREASE 2")
    table.expect("  … expirationIntent", 3, info.rawExpirationIntent)


def not_for_sale(table, life, first):
    """Takes away the price of the subscriber's storefront, so that there is nothing to renew."""
    life.price(SILVER, PRODUCTS[SILVER][1])
    life.buy(SILVER)
    life.expect(table, "a purchase before the product is withdrawn", "SUBSCRIBED RESUBSCRIBE 1")
    life.price(SILVER, 899, "FRA", "EUR")
    # A raise is refused in any case, and by another code once payments knows that there is no price.
    eventually(lambda: life.raise_price(first, PRODUCTS[SILVER][1]).json().get("code") == "product_unavailable")
    life.advance("32d")
    info, _ = life.expect(table, "the end of a product without a price", "EXPIRED PRODUCT_NOT_FOR_SALE 2")
    table.expect("  … expirationIntent", (4, 0), (info.rawExpirationIntent, info.rawAutoRenewStatus))


def named(store):
    """The names of the entitlements that the buyer may use now."""
    answer = requests.get(
        f"{store.fulfillment}/v1/entitlements",
        headers={"Authorization": f"Bearer {store.facts['accountToken']}"},
        timeout=60,
    ).json()
    return [one["transactionID"] for one in answer["named"] if one["name"] == NAME]


def reads(store, table, life, periods):
    """Checks the queries about periods: histories, orders, statuses and receipts."""
    client = store.client()

    def history(**options):
        request = TransactionHistoryRequest(**options)
        page = client.get_transaction_history(periods[0], None, request, GetTransactionHistoryVersion.V2)
        return {life.verifier.verify_and_decode_signed_transaction(one).transactionId for one in page.signedTransactions}

    table.expect("get_transaction_history, subscriptionGroupIdentifiers", set(periods), history(subscriptionGroupIdentifiers=[GROUP]))
    table.expect("  … of another group", set(), history(subscriptionGroupIdentifiers=["other"]))
    table.expect("  … AUTO_RENEWABLE", set(periods), history(productTypes=[ProductType.AUTO_RENEWABLE]))
    answer = requests.get(
        f"{store.receipts}/v1/transactions/{periods[-1]}/receipt",
        headers={"Authorization": f"Bearer {store.facts['accountToken']}"},
        timeout=60,
    ).json()
    found = client.look_up_order_id(answer["orderId"])
    table.expect(
        "look_up_order_id, a renewal",
        (0, [periods[-1]]),
        (found.rawStatus, [life.verifier.verify_and_decode_signed_transaction(one).transactionId for one in found.signedTransactions]),
    )
    statuses = client.get_all_subscription_statuses(periods[-1]).data
    table.expect("get_all_subscription_statuses", [(GROUP, 1)], [(one.subscriptionGroupIdentifier, one.lastTransactions[0].rawStatus) for one in statuses])
    answer = verify(store, app_receipt(store)[1])
    entries = [one for one in answer["latest_receipt_info"] if one["transaction_id"] in periods]
    table.expect("verifyReceipt, latest_receipt_info", periods[::-1], [one["transaction_id"] for one in entries])
    table.expect("  … the upgraded one", ("true", True), (entries[-1].get("is_upgraded"), "cancellation_date_ms" in entries[-1]))
    for name in ["expires_date_ms", "web_order_line_item_id", "is_trial_period", "subscription_group_identifier"]:
        table.expect(f"  … {name}", True, all(name in one for one in entries))
    pending = answer["pending_renewal_info"]
    table.expect("  … pending_renewal_info", [(periods[0], GOLD, "1")], [(one["original_transaction_id"], one["auto_renew_product_id"], one["auto_renew_status"]) for one in pending])
    table.expect("what the subscription gives by name", [periods[-1]], named(store))

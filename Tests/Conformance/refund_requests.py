"""Has a buyer ask for a refund twice, and answers as the merchant's server and as the administrator."""

from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.RefundPreference import RefundPreference

from notifications import administer, eventually, heard
from other_offers import bought, money
from subscriptions import Life

GEMS = "com.example.gems"
PRICE = 999


def refund_requests(store, table):
    life, client = Life(store), store.client()
    draft = {
        "type": "consumable",
        "prices": {"USA": money(PRICE)},
        "localizations": {"en": {"title": "Gems", "description": "They can be spent."}},
    }
    url = f"{store.facts['catalogURL']}/v1/admin/products/{GEMS}"
    life.call("PUT", url, store.facts["administratorToken"], draft).raise_for_status()
    gems = bought(life, GEMS)["id"]
    heard(life.merchant, life.verifier, "ONE_TIME_CHARGE", GEMS)

    def told(name, count=1):
        """The transactions, and the reasons, of the notifications of a type."""
        pairs = heard(life.merchant, life.verifier, name, GEMS, count)
        return [(one.transactionId, told.data.rawConsumptionRequestReason) for told, one in pairs]

    def ask(reason):
        """Asks for a refund. Returns the number of the request."""

        def asked():
            answer = life.buyer("POST", f"/transactions/{gems}/refund-requests", {"reason": reason})
            return answer.json()["request"]["number"] if answer.status_code == 201 else None

        return eventually(asked)

    def decide(number, **decision):
        return life.administer("POST", f"/refund-requests/{gems}/{number}/decision", decision).status_code

    first = ask("unintendedPurchase")
    table.expect("a buyer asks for a refund, CONSUMPTION_REQUEST", [(gems, "UNINTENDED_PURCHASE")], told("CONSUMPTION_REQUEST"))
    report = ConsumptionRequest(
        customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED,
        consumptionPercentage=25_000, refundPreference=RefundPreference.DECLINE,
    )
    table.answer("  … send_consumption_information", None, lambda: client.send_consumption_information(gems, report))
    said = administer(store, "GET", f"/transactions/{gems}/consumption-report").json()
    table.expect("  … in time for the administrator", (25_000, False), (said["report"]["consumptionPercentage"], said["isLate"]))
    table.expect("the request is declined", 200, decide(first, decision="decline", reason="A quarter is used."))
    table.expect("  … REFUND_DECLINED", [(gems, None)], told("REFUND_DECLINED"))

    second = ask("fulfillmentIssue")
    table.expect("the buyer asks again, CONSUMPTION_REQUEST", [(gems, "UNINTENDED_PURCHASE"), (gems, "FULFILLMENT_ISSUE")], told("CONSUMPTION_REQUEST", 2))
    table.expect("the request is approved", True, decide(second, decision="approve") in (200, 202))
    refunds = [one for _, one in heard(life.merchant, life.verifier, "REFUND", GEMS)]
    table.expect("  … REFUND", [(gems, "REFUND_FULL")], [(one.transactionId, one.rawRevocationType) for one in refunds])

    def history():
        page = client.get_refund_history(gems, None)
        return gems in [life.verifier.verify_and_decode_signed_transaction(one).transactionId for one in page.signedTransactions]

    table.expect("  … get_refund_history", True, eventually(history))
    administer(store, "DELETE", f"/apps/{store.bundle}/notification-endpoint")

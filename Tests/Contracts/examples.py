"""Checks that every fixture of the tests is valid against its schema in the contracts.

usage: examples.py OPENAPI.json ASYNCAPI.json

The unit tests run this with the documents that the services serve. It exits with 1 and names every
fixture that is not valid.
"""

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator

from store import REPOSITORY, told
from strictness import strict_asyncapi, strict_openapi

FIXTURES = REPOSITORY / "Tests/Fixtures"

# The schema of each HTTP fixture, by the beginning of its name. The longest match counts.
HTTP = {
    "account.change.request": "AccountChangeRequest",
    "account.response": "AccountResponse",
    "approval": "ApprovalRequest",
    "auto.renew.request": "AutoRenewRequest",
    "subscription.method.request": "SubscriptionMethodRequest",
    "catalog.document": "CatalogDocument",
    "catalog.import.result": "CatalogImportResult",
    "clock.advance.request": "ClockAdvanceRequest",
    "clock.followed.response": "FollowedClockResponse",
    "clock.response": "ClockResponse",
    "clock.run.request": "ClockRunRequest",
    "code.campaign.request": "CodeCampaignRequest",
    "code.campaign.response": "CodeCampaignResponse",
    "code.campaigns.response": "CodeCampaignsResponse",
    "family.request": "FamilyRequest",
    "family.member.request": "FamilyMemberRequest",
    "family.end.request": "FamilyEndRequest",
    "family.response": "FamilyResponse",
    "families.response": "FamiliesResponse",
    "code.deactivation.request": "CodeDeactivationRequest",
    "credits.response": "CreditsResponse",
    "price.increase.request": "PriceIncreaseRequest",
    "price.increase.decision": "PriceIncreaseDecisionRequest",
    "test.price.increase.request": "TestPriceIncreaseRequest",
    "test.dispute.request": "TestDisputeRequest",
    "test.expiry.request": "TestExpiryRequest",
    "test.settings": "TestSettingsDocument",
    "entitlements.response": "EntitlementsResponse",
    "finish.response": "FinishResponse",
    "history.response": "HistoryResponse",
    "hosted.contents.response": "HostedContentsResponse",
    "introductory.offer.response": "IntroductoryOfferResponse",
    "buyer.action.response": "BuyerActionResponse",
    "sandbox.action.request": "SandboxActionRequest",
    "notification.endpoint": "NotificationEndpointDocument",
    "notification.request": "NotificationRequest",
    "notification.response": "NotificationResponse",
    "offered.contents.response": "OfferedContentsResponse",
    "payment.methods.response": "PaymentMethodsResponse",
    "payment.method.setup.response": "PaymentMethodSetupResponse",
    "payment.request": "PaymentRequest",
    "problem": "Problem",
    "product.draft": "ProductDraft",
    "products.response": "ProductsResponse",
    "purchase.intent.request": "PurchaseIntentRequest",
    "purchase.intent.response": "PurchaseIntentResponse",
    "queue.response": "QueueResponse",
    "receipt.response": "ReceiptResponse",
    "redemption.ticket.request": "RedemptionTicketRequest",
    "redemption.ticket.response": "RedemptionTicketResponse",
    "extension.request": "ExtensionRequest",
    "mass.extension.request": "MassExtensionRequest",
    "mass.extension.response": "MassExtensionResponse",
    "buyer.refund.request": "BuyerRefundRequest",
    "buyer.refund.response": "BuyerRefundResponse",
    "refund.decision.request": "RefundDecisionRequest",
    "refund.request": "RefundRequest",
    "refund.request.response": "RefundRequestResponse",
    "refund.requests.response": "RefundRequestsResponse",
    "refund.reversal.request": "RefundReversalRequest",
    "restore.request": "RestoreRequest",
    "restore.response": "RestoreResponse",
    "resumption.request": "ResumptionRequest",
    "subscription.group.draft": "SubscriptionGroupDraft",
    "subscription.product.request": "SubscriptionProductRequest",
    "subscription.response": "SubscriptionResponse",
    "subscription.statuses.response": "SubscriptionStatusesResponse",
    "subscriptions.response": "SubscriptionsResponse",
    "transaction.response": "TransactionResponse",
    "unfinished.response": "UnfinishedResponse",
    "deferred.response": "DeferredResponse",
    "webhooks.again.response": "WebhooksAgainResponse",
}


def validator(document, reference):
    """A validator for a schema that may refer to other schemas of its document."""
    return Draft202012Validator({"$ref": reference, "components": document["components"]})


def faults(name, check, value):
    return [f"{name}: {error.json_path}: {error.message}" for error in check.iter_errors(value)]


def event_of(path, messages):
    """The message of a fixture, named by its stem or, in `optional`, by the beginning of its stem."""
    parts = path.stem.split(".")
    shortest = 2 if path.parent.name == "optional" else len(parts)
    for count in range(len(parts), shortest - 1, -1):
        name = ".".join(parts[:count]) + ".v1"
        if name in messages:
            return name
    return None


def check(openapi, asyncapi):
    problems, count = [], 0
    closed = strict_asyncapi(asyncapi)
    for path in sorted((FIXTURES / "events/v1").rglob("*.json")):
        # Data from a newer store is valid against the served document, and only against that one.
        document = asyncapi if path.parent.name == "unknown" else closed
        name = event_of(path, document["components"]["messages"])
        if name is None:
            problems.append(f"{path.name}: AsyncAPI has no message {path.stem}.v1.")
            continue
        message = document["components"]["messages"][name]
        data = validator(document, message["payload"]["$ref"])
        problems += faults(path.name, data, json.loads(path.read_text()))
        count += 1
    whole = strict_openapi(openapi)
    for path in sorted((FIXTURES / "http").glob("*.json")):
        names = [name for name in HTTP if path.stem == name or path.stem.startswith(f"{name}.")]
        if not names:
            problems.append(f"{path.name}: say of which schema it is, in examples.py.")
            continue
        reference = f"#/components/schemas/{HTTP[max(names, key=len)]}"
        problems += faults(path.name, validator(whole, reference), json.loads(path.read_text()))
        count += 1
    if not problems:
        told(f"{count} fixtures of events and of HTTP fit their schemas")
    return problems


def main():
    openapi, asyncapi = (json.loads(Path(name).read_text()) for name in sys.argv[1:3])
    problems = check(openapi, asyncapi)
    for problem in problems:
        print(f"  ✗ {problem}", flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

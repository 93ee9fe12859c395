import EventTypes
import Foundation
import StoreAPI
import Testing

/// Every body of the HTTP interface as it stands on the wire.
@Suite struct HTTPFixtureTests {
    private func roundTrip<Body: Codable & Equatable>(
        _ type: Body.Type,
        _ name: String
    ) throws -> Body { try HTTPFixture.roundTrip(type, name) }

    @Test func whatTestsAsk() throws {
        let settings = try roundTrip(TestSettingsDocument.self, "test.settings")
        #expect(settings.failNext == SimulatedFailure(.insufficientFunds, times: 2))
        #expect(settings.asksToBuy == true && settings.hasGracePeriod == false)
        let dispute = try roundTrip(TestDisputeRequest.self, "test.dispute.request")
        #expect(dispute.step == .open)
        let expiry = try roundTrip(TestExpiryRequest.self, "test.expiry.request")
        #expect(expiry.intent == .billingError)
    }

    @Test func whatABuyerSaves() throws {
        let methods = try roundTrip(PaymentMethodsResponse.self, "payment.methods.response")
        #expect(methods.paymentMethods.map(\.lastFour) == ["4242"])
        let setup = try roundTrip(PaymentMethodSetupResponse.self, "payment.method.setup.response")
        #expect(setup.clientSecret.hasPrefix(setup.id))
    }

    @Test func whatABuyerHasToDo() throws {
        let page = try roundTrip(BuyerActionResponse.self, "buyer.action.response")
        #expect(page.url.hasPrefix(Routes.sandboxActions) && page.endsIn == 3_599_000)
        let refusal = try roundTrip(SandboxActionRequest.self, "sandbox.action.request")
        #expect(refusal.decision == .refuse)
    }

    @Test func productsResponse() throws {
        let body = try roundTrip(ProductsResponse.self, "products.response")
        #expect(body.storefront == Storefront(unchecked: "FRA"))
        #expect(body.products.map(\.price.description) == ["1.19 EUR"])
        #expect(body.products.map(\.language.rawValue) == ["fr"])
        #expect(body.products.map(\.isFamilyShareable) == [false])
        #expect(body.invalidProductIDs == ["com.example.unknown", "not an id"])
        #expect(body.next == nil)
        let page = try roundTrip(ProductsResponse.self, "products.response.page")
        #expect(page.next == page.products.last?.id)
        let subscription = try roundTrip(ProductsResponse.self, "products.response.subscription")
        #expect(subscription.products.map(\.subscriptionGroupName) == ["The club"])
        let club = try roundTrip(ProductsResponse.self, "products.response.offer").products.first
        let offer = try #require(club?.introductoryOffer)
        #expect(offer.mode == .payAsYouGo && offer.numberOfPeriods == 3)
        #expect(offer.price.description == "0.99 USD")
        let club2 = try roundTrip(ProductsResponse.self, "products.response.promotional").products
        let promotional = try #require(club2.first?.promotionalOffers)
        #expect(promotional.map(\.id.rawValue) == ["come_back"])
        #expect(promotional.map(\.terms) == [offer])
        let winBack = try roundTrip(ProductsResponse.self, "products.response.win-back").products
        #expect(winBack.first?.winBackOffers?.map(\.terms) == [offer])
    }

    @Test func productDraft() throws {
        let body = try roundTrip(ProductDraft.self, "product.draft")
        #expect(body.type == .consumable && body.isOnSale == true && body.prices.count == 4)
        let minimal = try roundTrip(ProductDraft.self, "product.draft.minimal")
        #expect(body.isFamilyShareable == false && minimal.isFamilyShareable == nil)
        #expect(minimal.isOnSale == nil && minimal.isRestorable == nil)
        #expect(minimal.deliveryPlan == nil)
        let subscription = try roundTrip(ProductDraft.self, "product.draft.subscription")
        #expect(subscription.subscription?.period == SubscriptionPeriod(1, .month))
        #expect(minimal.subscription == nil && minimal.entitlements == nil)
        #expect(subscription.entitlements?.map(\.rawValue) == ["club", "pro"])
        let offer = try roundTrip(ProductDraft.self, "product.draft.offer").introductoryOffer
        #expect(offer?.mode == .freeTrial && offer?.period == SubscriptionPeriod(1, .week))
        let promotional = try roundTrip(ProductDraft.self, "product.draft.promotional")
        #expect(promotional.promotionalOffers?.map(\.isActive) == [false])
        let scheduled = try roundTrip(ProductDraft.self, "product.draft.scheduled")
        #expect(scheduled.priceChanges?.values.map(\.existingSubscribers) == [.preserve])
        let codes = try roundTrip(ProductDraft.self, "product.draft.code")
        #expect(codes.codeOffers?.map(\.customers) == [[.new, .active]])
        let winBack = try roundTrip(ProductDraft.self, "product.draft.win-back")
        #expect(winBack.winBackOffers?.map(\.terms) == [offer].compactMap(\.self))
        #expect(promotional.promotionalOffers?.map(\.terms) == [offer].compactMap(\.self))
    }

    @Test func introductoryOfferResponse() throws {
        let name = "introductory.offer.response"
        let body = try roundTrip(IntroductoryOfferResponse.self, name)
        #expect(body.groupID.rawValue == "club" && body.isEligible)
    }

    @Test func catalogDocument() throws {
        let body = try roundTrip(CatalogDocument.self, "catalog.document")
        #expect(
            body.products.keys.sorted().map(\.rawValue)
                == ["com.example.coins.100", "com.example.pro"]
        )
        #expect(body.subscriptionGroups == nil)
        let named = try roundTrip(CatalogDocument.self, "catalog.document.groups")
        let club = try roundTrip(SubscriptionGroupDraft.self, "subscription.group.draft")
        #expect(named.subscriptionGroups == [SubscriptionGroupID(unchecked: "club"): club])
        #expect(club.localizations[LanguageTag(unchecked: "fr")]?.name == "Le club")
    }

    @Test func catalogImportResult() throws {
        let body = try roundTrip(CatalogImportResult.self, "catalog.import.result")
        #expect(body == CatalogImportResult(created: 1, changed: 2, unchanged: 3))
    }

    @Test func paymentRequest() throws {
        let body = try roundTrip(PaymentRequest.self, "payment.request")
        #expect(body.price.description == "0.300 KWD")
        #expect(body.applicationUsername == "ada-in-the-app")
        let minimal = try roundTrip(PaymentRequest.self, "payment.request.minimal")
        #expect(minimal.price.description == "800 JPY")
        #expect(SandboxPaymentMethod(minimal.paymentMethod) == .decline)
        #expect(minimal.purchaseIntentID == nil)
        let promoted = try roundTrip(PaymentRequest.self, "payment.request.intent")
        #expect(promoted.purchaseIntentID?.rawValue == "01a1fcbf-18a0-7cd4-8e6e-0a1b2c3d4e5f")
        let trial = try roundTrip(PaymentRequest.self, "payment.request.offer")
        #expect(trial.offer?.type == .introductory && trial.offer?.id == nil)
        #expect(trial.offer?.terms?.mode == .freeTrial && trial.price.description == "2.99 USD")
        let signed = try roundTrip(PaymentRequest.self, "payment.request.discount")
        #expect(signed.discount?.identifier == "come_back")
        #expect(signed.discount?.timestamp == 1_800_000_000_000)
        let token = try roundTrip(PaymentRequest.self, "payment.request.promotional")
        #expect(token.promotionalOffer?.hasPrefix("eyJ") == true && token.discount == nil)
        let allowed = try roundTrip(PaymentRequest.self, "payment.request.introductory")
        #expect(allowed.introductoryOfferEligibility?.hasPrefix("eyJ") == true)
    }

    @Test func clock() throws {
        let body = try roundTrip(ClockResponse.self, "clock.response")
        #expect(body.mode == .running && body.rate == "1h=1d" && body.status == .ready)
        let advancing = try roundTrip(ClockResponse.self, "clock.response.advancing")
        #expect(advancing.status == .advancing && advancing.target == body.now)
        #expect(advancing.waitsFor == ["expired approvals"])
        #expect(advancing.done == ["expired approvals": 2])
        let followed = try roundTrip(FollowedClockResponse.self, "clock.followed.response")
        #expect(followed.service == "receipts" && followed.step == 4)
        let span = try roundTrip(ClockAdvanceRequest.self, "clock.advance.request")
        #expect(span == ClockAdvanceRequest(by: "31d"))
        let time = try roundTrip(ClockAdvanceRequest.self, "clock.advance.request.time")
        #expect(time == ClockAdvanceRequest(to: body.now))
        let run = try roundTrip(ClockRunRequest.self, "clock.run.request")
        #expect(run == ClockRunRequest(rate: "1h=1d"))
    }

    @Test func account() throws {
        let account = try roundTrip(AccountResponse.self, "account.response").account
        #expect(account.storefront == Storefront(unchecked: "FRA"))
        let unknown = try roundTrip(AccountResponse.self, "account.response.default").account
        #expect(unknown == Account(accountID: account.accountID, bundleID: account.bundleID))
        let change = try roundTrip(AccountChangeRequest.self, "account.change.request")
        #expect(change.canMakePayments == false)
        let minimal = try roundTrip(AccountChangeRequest.self, "account.change.request.minimal")
        #expect(minimal.canMakePayments == nil && minimal.storefront == account.storefront)
    }

    @Test func purchaseIntent() throws {
        let request = try roundTrip(PurchaseIntentRequest.self, "purchase.intent.request")
        let response = try roundTrip(PurchaseIntentResponse.self, "purchase.intent.response")
        #expect(response.purchaseIntent.productID == request.productID)
    }

    @Test func transactionResponse() throws {
        let body = try roundTrip(TransactionResponse.self, "transaction.response")
        #expect(body.transaction.state == .purchasing)
    }

    @Test func approvalRequest() throws {
        #expect(try roundTrip(ApprovalRequest.self, "approval.approve").decision == .approve)
        #expect(try roundTrip(ApprovalRequest.self, "approval.decline").decision == .decline)
    }

    @Test func refundRequest() throws {
        let body = try roundTrip(RefundRequest.self, "refund.request")
        #expect(body.amount?.minorUnits == 50 && body.revokes == true)
        #expect(try roundTrip(RefundRequest.self, "refund.request.minimal") == RefundRequest())
        let reversal = try roundTrip(RefundReversalRequest.self, "refund.reversal.request")
        #expect(reversal.reason?.rawValue == "the return never arrived")
    }

    @Test func requestsForRefunds() throws {
        let asked = try roundTrip(BuyerRefundRequest.self, "buyer.refund.request")
        #expect(asked.reason == .unintendedPurchase)
        let open = try roundTrip(BuyerRefundResponse.self, "buyer.refund.response").request
        #expect(open.state == .open && open.number == 1)
        let page = try roundTrip(RefundRequestsResponse.self, "refund.requests.response")
        #expect(page.requests == [open])
        let part = try roundTrip(RefundDecisionRequest.self, "refund.decision.request")
        #expect(part.decision == .approve && part.amount?.minorUnits == 50)
        let no = try roundTrip(RefundDecisionRequest.self, "refund.decision.request.decline")
        #expect(no.decision == .decline && no.reason?.rawValue == "used up")
        let one = try roundTrip(RefundRequestResponse.self, "refund.request.response")
        #expect(one.refundState == .made && one.act?.decidedBy.rawValue == "mia")
        let more = try roundTrip(ExtensionRequest.self, "extension.request")
        #expect(more.days == 3 && more.reasonCode == .serviceIssue)
        let all = try roundTrip(MassExtensionRequest.self, "mass.extension.request")
        #expect(all.storefronts?.map(\.rawValue) == ["USA"] && all.reason?.rawValue == "outage")
        let done = try roundTrip(MassExtensionResponse.self, "mass.extension.response").request
        #expect(done.completedAt != nil && done.succeededCount == 1200 && done.failedCount == 2)
    }

    @Test func subscriptions() throws {
        let one = try roundTrip(SubscriptionResponse.self, "subscription.response")
        #expect(one.subscription.isAutoRenewOn && one.subscription.version == 3)
        let all = try roundTrip(SubscriptionsResponse.self, "subscriptions.response")
        #expect(all.subscriptions == [one.subscription] && all.next == nil)
        let signed = try roundTrip(
            SubscriptionStatusesResponse.self,
            "subscription.statuses.response"
        )
        #expect(signed.statuses.map(\.status) == [1] && signed.statuses.map(\.version) == [3])
        let page = try roundTrip(SubscriptionsResponse.self, "subscriptions.response.page")
        #expect(page.next == page.subscriptions.last?.id)
        #expect(try roundTrip(AutoRenewRequest.self, "auto.renew.request").isOn == false)
        let method = try roundTrip(SubscriptionMethodRequest.self, "subscription.method.request")
        #expect(method.paymentMethod == "pm_1")
        let choice = try roundTrip(
            SubscriptionProductRequest.self,
            "subscription.product.request"
        )
        #expect(choice.productID.rawValue == "com.example.silver")
        let raise = try roundTrip(PriceIncreaseRequest.self, "price.increase.request")
        #expect(raise.price.description == "12.99 USD" && raise.effectiveAt != nil)
        let answer = try roundTrip(PriceIncreaseDecisionRequest.self, "price.increase.decision")
        #expect(answer.decision == .decline && answer.increaseID != nil)
        let test = try roundTrip(TestPriceIncreaseRequest.self, "test.price.increase.request")
        #expect(test.price.description == "19.99 USD")
    }

    @Test func resumptionRequest() throws {
        let body = try roundTrip(ResumptionRequest.self, "resumption.request")
        #expect(body.paymentMethod == SandboxPaymentMethod.slow.method)
    }

    @Test func restore() throws {
        let request = try roundTrip(RestoreRequest.self, "restore.request")
        #expect(request.applicationUsername == "ada-in-the-app" && request.productIDs == nil)
        let pick = try roundTrip(RestoreRequest.self, "restore.request.products")
        #expect(pick.productIDs?.map(\.rawValue) == ["com.example.pro"])
        let response = try roundTrip(RestoreResponse.self, "restore.response")
        #expect(response.transactions.map(\.state) == [.restored])
        #expect(response.transactions.first?.price.isZero == true)
    }

    @Test func queueResponse() throws {
        let body = try roundTrip(QueueResponse.self, "queue.response")
        #expect(body.revision == 12 && body.transactions.count == 1)
    }

    @Test func queueResponseWithHostedContents() throws {
        let body = try roundTrip(QueueResponse.self, "queue.response.contents")
        #expect(body.transactions.first?.contents?.map(\.length) == [52_428_800])
    }

    @Test func historyResponse() throws {
        let body = try roundTrip(HistoryResponse.self, "history.response")
        #expect(body.next == 7 && body.transactions.map(\.revision) == [12])
    }

    @Test func unfinishedResponse() throws {
        let body = try roundTrip(UnfinishedResponse.self, "unfinished.response")
        #expect(body.transactions.map(\.isDelivered) == [true])
    }

    @Test func deferredResponse() throws {
        let body = try roundTrip(DeferredResponse.self, "deferred.response")
        #expect(body.transactions.map(\.price.description) == ["1.98 USD"])
    }

    @Test func webhooksAgainResponse() throws {
        #expect(try roundTrip(WebhooksAgainResponse.self, "webhooks.again.response").webhooks == 2)
    }

    @Test func notifications() throws {
        let endpoint = try roundTrip(NotificationEndpointDocument.self, "notification.endpoint")
        #expect(endpoint.url == "https://merchant.example/notifications")
        let test = try roundTrip(NotificationRequest.self, "notification.request")
        #expect(test == NotificationRequest(notificationType: "TEST"))
        let summary = try roundTrip(NotificationRequest.self, "notification.request.summary")
        #expect(summary.summary?.succeededCount == 12)
        let response = try roundTrip(NotificationResponse.self, "notification.response")
        #expect(response.notificationUUID.description == "01a1fcbf-18a0-7cd4-8e6e-0a1b2c3d4e5f")
    }

    @Test func hostedContentsResponse() throws {
        let body = try roundTrip(HostedContentsResponse.self, "hosted.contents.response")
        #expect(body.contents.map(\.version.rawValue) == ["1.2", "1.1"])
        #expect(body.contents.map { $0.withdrawnAt == nil } == [true, false])
    }

    @Test func offeredContentsResponse() throws {
        let body = try roundTrip(OfferedContentsResponse.self, "offered.contents.response")
        #expect(body.contents.map(\.productID.rawValue) == ["com.example.levels.1"])
        #expect(body.contents.map(\.version.rawValue) == ["1.2"])
        #expect(body.contents.map(\.length) == [52_428_800])
    }

    @Test func finishResponse() throws {
        let body = try roundTrip(FinishResponse.self, "finish.response")
        #expect(body.transactionID.number == 1_000_000_000_000_001)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(try encoder.encode(body) == Data(body.json))
    }

    @Test func entitlementsResponse() throws {
        let body = try roundTrip(EntitlementsResponse.self, "entitlements.response")
        #expect(body.entitlements.map { $0.revokedAt == nil } == [true, false, true])
        #expect(body.entitlements.map { $0.endsAt == nil } == [true, true, false])
        #expect(body.named.map(\.name.rawValue) == ["club", "pro"])
        #expect(body.named.map { $0.endsAt == nil } == [false, true])
        #expect(body.next?.number == 1_000_000_000_000_002)
    }

    @Test func creditsResponse() throws {
        #expect(
            try roundTrip(CreditsResponse.self, "credits.response").balances
                == ["coins": 200, "tickets": -10]
        )
    }

    @Test func receiptResponse() throws {
        let body = try roundTrip(ReceiptResponse.self, "receipt.response")
        #expect(body.signedTransaction.split(separator: ".").count == 3)
    }

    @Test func problem() throws {
        #expect(try roundTrip(Problem.self, "problem").code == "not_found")
        #expect(
            try roundTrip(Problem.self, "problem.stale_price").currentPrice?.description
                == "1.19 EUR"
        )
        #expect(
            try roundTrip(Problem.self, "problem.storefront_changed").currentStorefront
                == Storefront(unchecked: "FRA")
        )
        #expect(
            try roundTrip(Problem.self, "problem.product_type_not_sold_yet").status == 422
        )
        #expect(
            try roundTrip(Problem.self, "problem.payment_method_not_available").status == 422
        )
        #expect(
            try roundTrip(Problem.self, "problem.fresh_authentication_required").status == 401
        )
        #expect(try roundTrip(Problem.self, "problem.incident").incident == "0193-abc")
    }

    @Test func theSampleCatalogIsADocument() throws {
        let file = HTTPFixture.folder.appending(path: "../../../deploy/sample/catalog.json")
        let document = try JSONDecoder().decode(
            CatalogDocument.self,
            from: Data(contentsOf: file.standardizedFileURL)
        )
        let types = Set(document.products.values.map(\.type))
        #expect(
            types == [
                .consumable, .nonConsumable, .nonRenewingSubscription, .autoRenewableSubscription,
            ]
        )
        let exponents = document.products.values.flatMap {
            $0.prices.values.map(\.currency.exponent)
        }
        #expect(Set(exponents) == [0, 2, 3])
    }

    @Test func routesHoldTheirIdentifiers() {
        let id = TransactionID(number: 7)
        #expect(Routes.finish(id) == "/v1/transactions/7/finish")
        #expect(Routes.receipt(id) == "/v1/transactions/7/receipt")
        #expect(Routes.approval(id) == "/v1/admin/transactions/7/approval")
        #expect(Routes.refund(id) == "/v1/admin/transactions/7/refund")
        #expect(Routes.refundReversal(id, 2) == "/v1/admin/transactions/7/refunds/2/reversal")
        #expect(Routes.resumption(id) == "/v1/admin/transactions/7/resumption")
        #expect(Routes.autoRenew(id) == "/v1/subscriptions/7/auto-renew")
        #expect(Routes.subscriptionProduct(id) == "/v1/subscriptions/7/product")
        #expect(Routes.subscriptionMethod(id) == "/v1/subscriptions/7/payment-method")
        #expect(Routes.action(of: id) == "/v1/transactions/7/action")
        #expect(Routes.action(ofSubscription: id) == "/v1/subscriptions/7/action")
        #expect(Routes.adminAutoRenew(id) == "/v1/admin/subscriptions/7/auto-renew")
        #expect(
            Routes.adminSubscriptionProduct(id) == "/v1/admin/subscriptions/7/product"
        )
        let account = AccountID(unchecked: "ada/7@example.com")
        #expect(Routes.adminAccount(account) == "/v1/admin/accounts/ada%2F7@example.com")
        #expect(Routes.adminProduct(ProductID(unchecked: "pro")) == "/v1/admin/products/pro")
    }
}

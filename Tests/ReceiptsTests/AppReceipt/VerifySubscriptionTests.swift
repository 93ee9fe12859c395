import EventTypes
import Foundation
import Messaging
import ReceiptValidation
import Testing

@testable import Receipts

/// The subscriptions in the answers of `verifyReceipt`.
@Suite(.timeLimit(.minutes(10))) struct VerifySubscriptionTests {
    @Test func aSubscriptionShowsItsPeriodsAndItsNextRenewal() async throws {
        typealias Club = ClubSubscription
        try await AppReceiptsUnderTest.with(chain: try TestChain().signingChain()) { store in
            let periods = [Club.begun.period, Club.renewed.period]
            var copy = Club.transaction(Club.renewed.period)
            copy.id = TransactionID(number: 2_000_000_000_003)
            copy.state = .restored
            copy.reason = .restore
            copy.subscription?.paidBy = Club.second
            try await store.events.apply(
                periods.map { try .of(.transactionPurchased, Club.transaction($0)) }
                    + [
                        .of(.transactionRestored, copy),
                        .of(Club.change(Club.renewed, .renewed, making: Club.second)),
                    ]
            )
            let read = try await store.read()
            #expect(read.purchases.map(\.transactionID) == periods.map(\.transactionID.rawValue))
            #expect(read.purchases.map(\.webOrderLineItemID).allSatisfy { $0 != nil })
            let receipt = Data(try await store.receipt()).base64EncodedString()
            let body = Data(#"{"receipt-data":"\#(receipt)"}"#.utf8)
            let answer = try await store.handler().answer(body) { $0 }
            let renewals = try #require(answer.pendingRenewalInfo)
            #expect(
                renewals == [
                    [
                        "auto_renew_product_id": "club", "auto_renew_status": "1",
                        "original_transaction_id": Club.first.rawValue, "product_id": "club",
                    ]
                ]
            )
            let newest = try #require(answer.latestReceiptInfo?.first)
            #expect(newest["transaction_id"] == Club.second.rawValue)
            #expect(newest["is_trial_period"] == "false" && newest["expires_date"] != nil)
            #expect(newest["web_order_line_item_id"] == "2000002000000000002")
        }
    }

    /// Rule S244.
    @Test func theReceiptOfASubscriptionThatHasEndedIsValid() async throws {
        typealias Club = ClubSubscription
        try await AppReceiptsUnderTest.with(chain: try TestChain().signingChain()) { store in
            var ended = Club.begun
            ended.version = 2
            ended.state = .expired
            ended.expirationIntent = .autoRenewDisabled
            ended.autoRenewOffReason = .customer
            try await store.events.apply([
                try .of(.transactionPurchased, Club.transaction(Club.begun.period)),
                .of(Club.change(Club.begun, .purchased, making: Club.first)),
                .of(Club.change(ended, .expired)),
            ])
            let receipt = Data(try await store.receipt()).base64EncodedString()
            let body = Data(#"{"receipt-data":"\#(receipt)"}"#.utf8)
            let answer = try await store.handler().answer(body) { $0 }
            #expect(answer.status == VerifyReceiptStatus.valid.rawValue)
            let renewal = try #require(answer.pendingRenewalInfo?.first)
            #expect(renewal["expiration_intent"] == "1" && renewal["auto_renew_status"] == "0")
            #expect(answer.latestReceiptInfo?.first?["expires_date"] != nil)
        }
    }

    @Test(arguments: [
        (OfferMode.freeTrial, Int64(0), true, false), (.payAsYouGo, 99, false, true),
        (.payUpFront, 199, false, true),
    ])
    func aPeriodOfAnOfferIsATrialOrHasAnIntroductoryPrice(
        mode: OfferMode,
        price: Int64,
        isTrial: Bool,
        isIntroductory: Bool
    ) async throws {
        typealias Club = ClubSubscription
        try await AppReceiptsUnderTest.with(chain: try TestChain().signingChain()) { store in
            let introduced = Club.introduced(mode, price: price)
            try await store.events.apply([
                try .of(.transactionPurchased, Club.transaction(introduced.period)),
                .of(Club.change(introduced, .purchased, making: Club.first)),
            ])
            let purchase = try #require(try await store.read().purchases.first)
            #expect(purchase.isTrialPeriod ?? false == isTrial)
            #expect(purchase.isInIntroOfferPeriod == isIntroductory)
            let receipt = Data(try await store.receipt()).base64EncodedString()
            let body = Data(#"{"receipt-data":"\#(receipt)"}"#.utf8)
            let answer = try await store.handler().answer(body) { $0 }
            let entries = [answer.receipt?.inApp.first, answer.latestReceiptInfo?.first]
            for entry in entries {
                #expect(entry?["is_trial_period"] == String(isTrial))
                #expect(entry?["is_in_intro_offer_period"] == String(isIntroductory))
            }
        }
    }

    @Test(arguments: [(OfferMode.freeTrial, 0, true), (.payAsYouGo, 99, false)])
    func aPeriodOfAPromotionalOfferNamesIt(
        mode: OfferMode,
        price: Int64,
        isTrial: Bool
    ) async throws {
        typealias Club = ClubSubscription
        try await AppReceiptsUnderTest.with(chain: try TestChain().signingChain()) { store in
            let promoted = Club.promoted(mode, price: price)
            try await store.events.apply([
                try .of(.transactionPurchased, Club.transaction(promoted.period)),
                .of(Club.change(promoted, .purchased, making: Club.first)),
            ])
            let receipt = Data(try await store.receipt()).base64EncodedString()
            let body = Data(#"{"receipt-data":"\#(receipt)"}"#.utf8)
            let answer = try await store.handler().answer(body) { $0 }
            let entry = try #require(answer.latestReceiptInfo?.first)
            #expect(entry["promotional_offer_id"] == "come_back")
            #expect(entry["is_trial_period"] == String(isTrial))
            #expect(entry["is_in_intro_offer_period"] == "false")
        }
    }

    @Test func aPendingRenewalNamesThePromotionalOfferThatItBegins() {
        typealias Entry = VerifyReceiptAnswer.Entry
        typealias Club = ClubSubscription
        var redeemed = Club.begun
        let start = redeemed.period.start
        #expect(Entry(redeemed, at: start)["promotional_offer_id"] == nil)
        redeemed.pendingOffer = Club.promoted(.payAsYouGo, price: 99).period.offer
        #expect(Entry(redeemed, at: start)["promotional_offer_id"] == "come_back")
        redeemed.autoRenewOffReason = .customer
        #expect(Entry(redeemed, at: start)["promotional_offer_id"] == nil)
        let month = SubscriptionPeriod(1, .month)
        let introduced = Club.introduced(.payAsYouGo, month, 2, price: 99)
        #expect(introduced.nextOffer != nil)
        #expect(Entry(introduced, at: start)["promotional_offer_id"] == nil)
    }

    @Test func aRenewalThatFailedIsPending() {
        typealias Entry = VerifyReceiptAnswer.Entry
        typealias Club = ClubSubscription
        var unpaid = Club.begun
        unpaid.state = .inGracePeriod
        unpaid.expirationIntent = .billingError
        let end = unpaid.period.end
        unpaid.gracePeriodEnd = end.advanced(by: .seconds(86_400))
        unpaid.billingRetryEnd = end.advanced(by: Club.month + Club.month)
        let grace = Entry(unpaid, at: end)
        #expect(grace["expiration_intent"] == "2" && grace["is_in_billing_retry_period"] == "1")
        #expect(grace["grace_period_expires_date_ms"] != nil && grace["auto_renew_status"] == "1")
        unpaid.state = .expired
        unpaid.gracePeriodEnd = nil
        unpaid.autoRenewOffReason = .billing
        let expired = Entry(unpaid, at: end)
        #expect(expired["is_in_billing_retry_period"] == "0" && expired["auto_renew_status"] == "0")
        #expect(expired["grace_period_expires_date_ms"] == nil)
    }
}

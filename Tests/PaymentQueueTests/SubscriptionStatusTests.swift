import Dispatch
import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import PaymentQueue
@testable import ReceiptValidation

/// The statuses of subscriptions as the client reads them, without a store.
@Suite struct SubscriptionStatusTests {
    private let queue = SKPaymentQueue(
        configuration: nil,
        callbacks: DispatchQueue(label: "subscription-statuses")
    )

    /// A JWS that nobody signed.
    private func jws(_ payload: [String: Any], _ changes: [String: Any]) throws -> String {
        let parts = [
            Data(#"{"alg":"ES256"}"#.utf8),
            try JSONSerialization.data(withJSONObject: payload.merging(changes) { $1 }),
            Data(repeating: 7, count: 64),
        ]
        return parts.map { StrictBase64.text($0) }.joined(separator: ".")
    }

    private func status(
        transaction: [String: Any] = [:],
        renewal: [String: Any] = [:],
        number: Int = 1
    ) throws -> SubscriptionStatus {
        let period: [String: Any] = [
            "transactionId": "7", "originalTransactionId": "5", "bundleId": "com.example.app",
            "productId": "club", "purchaseDate": 2_000, "originalPurchaseDate": 1_000,
            "expiresDate": 9_000, "quantity": 1, "type": "Auto-Renewable Subscription",
            "signedDate": 3_000, "environment": "Sandbox", "storefront": "USA",
            "transactionReason": "RENEWAL", "currency": "USD", "price": 2_990,
            "subscriptionGroupIdentifier": "club",
        ]
        let info: [String: Any] = [
            "originalTransactionId": "5", "productId": "club", "autoRenewProductId": "club",
            "autoRenewStatus": 1, "signedDate": 3_000, "environment": "Sandbox",
            "renewalDate": 9_000, "renewalPrice": 2_990, "currency": "USD",
            "recentSubscriptionStartDate": 1_000,
        ]
        return try queue.status(
            SubscriptionStatusesResponse.Status(
                groupID: SubscriptionGroupID(unchecked: "club"),
                version: 3,
                status: number,
                signedTransaction: try jws(period, transaction),
                signedRenewalInfo: try jws(info, renewal)
            )
        )
    }

    @Test func whatIsReadIsWhatWasSigned() throws {
        let status = try status()
        #expect(status.state == .subscribed)
        let transaction = status.transaction.unsafePayloadValue
        #expect(transaction.id == 7 && transaction.originalID == 5)
        #expect(transaction.expirationDate?.timeIntervalSince1970 == 9)
        #expect(transaction.subscriptionGroupID == "club" && !transaction.isUpgraded)
        #expect(transaction.reason == .renewal)
        let info = status.renewalInfo.unsafePayloadValue
        #expect(info.originalTransactionID == 5 && info.currentProductID == "club")
        #expect(info.willAutoRenew && info.autoRenewPreference == "club")
        #expect(info.renewalPrice == Decimal(string: "2.99"))
        #expect(info.renewalDate?.timeIntervalSince1970 == 9)
        #expect(info.expirationReason == nil && !info.isInBillingRetry)
        let cancelled = try self.status(renewal: ["autoRenewStatus": 0])
        #expect(cancelled.renewalInfo.unsafePayloadValue.autoRenewPreference == nil)
        #expect(cancelled != status)
    }

    @Test func theOffersOfThePeriodAndOfTheNextOneAreRead() throws {
        let none = try status()
        #expect(none.transaction.unsafePayloadValue.offer == nil)
        #expect(none.renewalInfo.unsafePayloadValue.offer == nil)
        #expect(none.renewalInfo.unsafePayloadValue.appAccountToken == nil)
        let token = UUID()
        let offered = try status(
            transaction: ["offerType": 1, "offerDiscountType": "FREE_TRIAL", "offerPeriod": "P1W"],
            renewal: [
                "offerType": 2, "offerIdentifier": "come_back", "offerPeriod": "P3M",
                "offerDiscountType": "PAY_AS_YOU_GO", "appTransactionId": "704",
                "appAccountToken": token.uuidString.lowercased(),
            ]
        )
        let trial = try #require(offered.transaction.unsafePayloadValue.offer)
        #expect(trial.type == .introductory && trial.id == nil && trial.paymentMode == .freeTrial)
        #expect(trial.period?.unit == .week && trial.period?.value == 1)
        let info = offered.renewalInfo.unsafePayloadValue
        #expect(info.offer?.type == .promotional && info.offer?.id == "come_back")
        #expect(info.offer?.paymentMode == .payAsYouGo && info.offer?.period?.value == 3)
        #expect(info.appTransactionID == "704" && info.appAccountToken == token)
    }

    /// The combinations that Apple documents.
    @Test func theStateFollowsFromWhatIsSigned() throws {
        let unpaid: [String: Any] = ["isInBillingRetryPeriod": true, "expirationIntent": 2]
        let grace = unpaid.merging(["gracePeriodExpiresDate": 3_001]) { $1 }
        let graceIsOver = unpaid.merging(["gracePeriodExpiresDate": 3_000]) { $1 }
        let over: [String: Any] = ["isInBillingRetryPeriod": false, "expirationIntent": 2]
        #expect(try status(renewal: unpaid).state == .inBillingRetryPeriod)
        #expect(try status(renewal: grace).state == .inGracePeriod)
        #expect(try status(renewal: graceIsOver).state == .inBillingRetryPeriod)
        #expect(try status(renewal: over).state == .expired)
        #expect(try status(transaction: ["revocationDate": 2_500]).state == .revoked)
        #expect(
            try status(renewal: over).renewalInfo.unsafePayloadValue.expirationReason
                == .billingError
        )
    }

    @Test func theUnsignedNumberGivesNothing() throws {
        let over: [String: Any] = ["isInBillingRetryPeriod": false, "expirationIntent": 1]
        #expect(try status(renewal: over, number: 1).state == .expired)
        #expect(try status(number: 5).state == .revoked, "It takes away.")
    }

    /// A status as if the store had signed it.
    private func verified(
        _ id: Int,
        product: String = "club",
        end: Int = 9_000,
        renewal: [String: Any] = [:]
    ) throws -> SubscriptionStatus {
        let told = try status(
            transaction: ["transactionId": "\(id)", "productId": product, "expiresDate": end],
            renewal: renewal
        )
        return SubscriptionStatus(
            state: told.state,
            transaction: .verified(told.transaction.unsafePayloadValue),
            renewalInfo: .verified(told.renewalInfo.unsafePayloadValue),
            groupID: told.groupID,
            version: told.version,
            queue: queue
        )
    }

    private func product(_ id: String, level: Int) -> PaymentQueue.Product {
        var listing = ProductListing(
            id: ProductID(unchecked: id),
            version: 1,
            type: .autoRenewableSubscription,
            price: .usd(299),
            title: id,
            description: "",
            language: LanguageTag(unchecked: "en-US")
        )
        listing.subscription = SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: "club"),
            level: level,
            period: SubscriptionPeriod(1, .month)
        )
        return PaymentQueue.Product(SKProduct(listing, storefront: "USA"))
    }

    /// Rule S141: an account may have a subscription of its own beside one that is shared.
    @Test func ofSeveralStatusesTheBestServiceCounts() throws {
        let unpaid: [String: Any] = ["isInBillingRetryPeriod": true, "expirationIntent": 2]
        let grace = unpaid.merging(["gracePeriodExpiresDate": 3_001]) { $1 }
        func best(_ statuses: [SubscriptionStatus], _ products: [PaymentQueue.Product] = [])
            -> UInt64?
        {
            statuses.effective(among: products)?.transaction.unsafePayloadValue.id
        }
        let low = try verified(1, product: "silver", end: 9_000)
        let high = try verified(2, product: "gold", end: 8_000)
        let inGrace = try verified(3, product: "gold", end: 9_000, renewal: grace)
        let inRetry = try verified(4, product: "gold", end: 9_500, renewal: unpaid)
        let products = [product("gold", level: 1), product("silver", level: 2)]
        #expect(best([low, high, inGrace, inRetry], products) == 2)
        #expect(best([inRetry, inGrace, low], products) == 1)
        #expect(best([inRetry, inGrace]) == 3)
        #expect(best([low, high]) == 1, "Without levels the later end counts.")
        let later = try verified(5, product: "gold", end: 8_500)
        #expect(best([later, high], products) == 5)
        #expect(best([]) == nil)
        #expect(best([try status()]) == nil, "Nobody has verified it.")
    }

    @Test func statusesOfOneGroupStandTogether() throws {
        let own = try verified(1)
        let shared = try verified(2)
        let other = SubscriptionStatus(
            state: own.state,
            transaction: own.transaction,
            renewalInfo: own.renewalInfo,
            groupID: "press",
            version: 1,
            queue: queue
        )
        let groups = [own, other, shared].inGroups
        #expect(groups.map(\.groupID) == ["club", "press"])
        #expect(groups.map(\.statuses.count) == [2, 1])
    }

    @Test func withoutATrustNothingIsVerified() throws {
        let status = try status()
        guard case .unverified(_, .invalidCertificateChain) = status.transaction,
            case .unverified(_, .invalidCertificateChain) = status.renewalInfo
        else {
            Issue.record("\(status) should not be believed.")
            return
        }
    }

    @Test func renewalInfoOfAnotherSubscriptionIsNotBelieved() throws {
        let status = try status(renewal: ["originalTransactionId": "6"])
        guard case .unverified(_, .invalidSignature) = status.renewalInfo else {
            Issue.record("\(status) should not be believed.")
            return
        }
    }

    @Test func whatIsNotSignedDataIsAnError() {
        #expect(throws: SKError.self) {
            try queue.status(
                SubscriptionStatusesResponse.Status(
                    groupID: SubscriptionGroupID(unchecked: "club"),
                    version: 1,
                    status: 1,
                    signedTransaction: "a.b",
                    signedRenewalInfo: "c"
                )
            )
        }
    }
}

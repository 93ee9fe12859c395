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

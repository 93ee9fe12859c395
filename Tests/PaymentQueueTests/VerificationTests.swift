import Dispatch
import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import PaymentQueue
@testable import ReceiptValidation

/// The library's verification of signed transactions and receipts, without a store.
@Suite struct VerificationTests {
    private static let transaction = SKPaymentTransaction(.of(7, "pro", .purchased))

    /// A JWS that nobody signed.
    private static func jws(
        id: String = "7",
        changing changes: [String: Any] = [:]
    ) throws -> String {
        var payload: [String: Any] = [
            "transactionId": id, "originalTransactionId": "5", "bundleId": "com.example.app",
            "productId": "pro", "purchaseDate": 2_000, "originalPurchaseDate": 1_000,
            "quantity": 3, "type": "Non-Consumable", "inAppOwnershipType": "PURCHASED",
            "signedDate": 3_000, "environment": "Sandbox", "storefront": "USA",
            "storefrontId": "143441", "transactionReason": "PURCHASE", "currency": "USD",
            "price": 14_970, "appAccountToken": "0A8E8D5A-2B1C-4D5E-8F90-112233445566",
        ]
        payload.merge(changes) { _, new in new }
        let parts = [
            Data(#"{"alg":"ES256"}"#.utf8),
            try JSONSerialization.data(withJSONObject: payload),
            Data(repeating: 7, count: 64),
        ]
        return parts.map { StrictBase64.text($0) }.joined(separator: ".")
    }

    private static let validator = ReceiptValidator(
        ReceiptTrust(roots: [[1]], bundleID: "com.example.app", environment: .sandbox)
    )

    @Test func whatIsReadIsWhatWasSigned() throws {
        let jws = try Self.jws(changing: ["revocationDate": 4_000, "revocationReason": 1])
        let result = try SKPaymentQueue.verify(jws, of: Self.transaction, by: nil)
        let value = result.unsafePayloadValue
        #expect(value.id == 7 && value.originalID == 5)
        #expect(value.productID == "pro" && value.productType == .nonConsumable)
        #expect(value.appBundleID == "com.example.app" && value.purchasedQuantity == 3)
        #expect(value.appAccountToken?.uuidString == "0A8E8D5A-2B1C-4D5E-8F90-112233445566")
        #expect(value.price == Decimal(string: "14.97"))
        #expect(value.currency?.identifier.uppercased() == "USD")
        #expect(value.storefront?.identifier == "143441" && value.storefrontCountryCode == "USA")
        #expect(value.ownershipType == .purchased && value.reason == .purchase)
        #expect(value.environment == .sandbox)
        #expect(value.purchaseDate.timeIntervalSince1970 == 2)
        #expect(value.originalPurchaseDate.timeIntervalSince1970 == 1)
        #expect(value.revocationDate?.timeIntervalSince1970 == 4)
        #expect(value.revocationReason == .developerIssue)
        #expect(result.signedDate.timeIntervalSince1970 == 3)
        #expect(result.jwsRepresentation == jws)
        #expect(result.headerData == Data(#"{"alg":"ES256"}"#.utf8))
        #expect(result.payloadData == value.jsonRepresentation)
        #expect(result.signatureData == Data(repeating: 7, count: 64))
        #expect(
            result.signedData == Data(jws.utf8.prefix { $0 != 0x2E }) + Data(".".utf8)
                + Data(jws.split(separator: ".")[1].utf8)
        )
    }

    @Test func aSignatureFromBeforeARefundOrItsReversalIsRecognized() throws {
        func signed(_ changes: [String: Any]) throws -> PaymentQueue.Transaction {
            let jws = try Self.jws(changing: changes)
            return try SKPaymentQueue.verify(jws, of: Self.transaction, by: nil)
                .unsafePayloadValue
        }
        func known(revokedAt: Int64? = nil, _ refunds: [Refund]) -> SKPaymentTransaction {
            SKPaymentTransaction(
                .of(7, "pro", .purchased, revokedAt: revokedAt, refunds: refunds)
            )
        }
        let untouched = try signed([:])
        let part = try signed(["revocationType": "REFUND_PRORATED", "revocationPercentage": 66_666])
        let full = try signed(["revocationType": "REFUND_FULL", "revocationDate": 4_000])
        #expect(part.revocationType == .proratedRefund && part.revocationPercentage == 66.666)
        #expect(full.revocationType == .fullRefund && full.revocationPercentage == nil)

        let refundedInPart = known([.of(1, 66)])
        #expect(part.hasRefunds(of: refundedInPart))
        #expect(!untouched.hasRefunds(of: refundedInPart))
        #expect(!part.hasRefunds(of: known([.of(1, 66), .of(2, 10)])))
        let refunded = known(revokedAt: 4_000, [.of(1, 99, revokes: true)])
        #expect(full.hasRefunds(of: refunded))
        #expect(!untouched.hasRefunds(of: refunded) && !part.hasRefunds(of: refunded))
        let reversed = known([.of(1, 99, revokes: true, isReversed: true)])
        #expect(untouched.hasRefunds(of: reversed))
        #expect(!full.hasRefunds(of: reversed) && !part.hasRefunds(of: reversed))
        #expect(full.hasRefunds(of: known(revokedAt: 4_000, [])), "It was free.")
    }

    @Test func withoutATrustNothingIsVerified() throws {
        let result = try SKPaymentQueue.verify(try Self.jws(), of: Self.transaction, by: nil)
        guard case .unverified(_, .invalidCertificateChain) = result else {
            Issue.record("\(result) should not be believed.")
            return
        }
        #expect(throws: VerificationResult<PaymentQueue.Transaction>.VerificationError.self) {
            try result.payloadValue
        }
    }

    @Test func whatNobodySignedIsNotVerified() throws {
        let result = try SKPaymentQueue.verify(
            try Self.jws(),
            of: Self.transaction,
            by: Self.validator
        )
        guard case .unverified(let value, let error) = result else {
            Issue.record("\(result) should not be believed.")
            return
        }
        #expect(value.id == 7)
        #expect(error == .invalidEncoding, "Its header names no certificates.")
    }

    @Test func anotherTransactionThanTheOneAskedForIsNotVerified() throws {
        let result = try SKPaymentQueue.verify(
            try Self.jws(id: "8"),
            of: Self.transaction,
            by: Self.validator
        )
        guard case .unverified(_, .invalidSignature) = result else {
            Issue.record("\(result) should not be believed.")
            return
        }
    }

    @Test(arguments: ["", "a.b", "a.b.c.d", "e30.e30.e30", "!.!.!"])
    func whatCannotBeReadIsAnError(_ jws: String) {
        #expect(throws: SKError.self) {
            try SKPaymentQueue.verify(jws, of: Self.transaction, by: Self.validator)
        }
    }

    @Test(arguments: [
        (ReceiptRefusal.Rule.form, "invalidEncoding"), (.header, "invalidEncoding"),
        (.size, "invalidEncoding"), (.payload, "missingRequiredProperties"),
        (.root, "invalidCertificateChain"), (.issuer, "invalidCertificateChain"),
        (.chainLength, "invalidCertificateChain"), (.validity, "invalidCertificateChain"),
        (.marker, "invalidCertificateChain"), (.signature, "invalidSignature"),
        (.algorithm, "invalidSignature"), (.bundleID, "invalidSignature"),
        (.environment, "invalidSignature"),
    ])
    func aRefusalHasStoreKitsName(rule: ReceiptRefusal.Rule, name: String) {
        typealias Failure = VerificationResult<PaymentQueue.Transaction>.VerificationError
        let error = Failure(ReceiptRefusal(rule, ""))
        #expect("\(error)" == name)
        #expect(error.errorDescription?.hasSuffix(".") == true)
    }

    // MARK: - What is owned without network

    private static func purchase(
        _ product: String,
        _ type: AppReceipt.ProductType,
        id: String = "1",
        cancelledAt: Date? = nil,
        expiresAt: Date? = nil
    ) -> AppReceipt.Purchase {
        var purchase = AppReceipt.Purchase()
        purchase.productID = product
        purchase.productType = type
        purchase.transactionID = id
        purchase.originalTransactionID = id
        purchase.cancelledAt = cancelledAt
        purchase.expiresAt = expiresAt
        return purchase
    }

    private static let now = Date(timeIntervalSince1970: 1_000)

    private func owned(_ purchases: AppReceipt.Purchase...) -> [String] {
        let receipt = AppReceipt(
            environment: .sandbox,
            isVolumePurchase: false,
            bundleID: "com.example.app",
            applicationVersion: "1",
            originalApplicationVersion: "1",
            createdAt: Self.now,
            purchases: purchases,
            opaqueValue: [],
            deviceHash: [],
            bundleIDValue: []
        )
        return OwnedProduct.owned(by: receipt, at: Self.now).map {
            "\($0.productID) \($0.transactionID)"
        }
    }

    @Test func whatIsUsedUpIsNotOwned() {
        #expect(
            owned(
                Self.purchase("pro", .nonConsumable),
                Self.purchase("coins", .consumable),
                Self.purchase("month", .nonRenewingSubscription, id: "4"),
                Self.purchase("rental", .unknown(9)),
                Self.purchase("old", .unknown(nil))
            ) == ["month 4", "pro 1"]
        )
    }

    @Test func whatWasRefundedIsNotOwned() {
        #expect(
            owned(
                Self.purchase("pro", .nonConsumable, cancelledAt: Self.now),
                Self.purchase("map", .nonConsumable, id: "2", cancelledAt: Self.now),
                Self.purchase("map", .nonConsumable, id: "3")
            ) == ["map 3"]
        )
    }

    @Test func aSubscriptionIsOwnedUntilItsPeriodIsOver() {
        #expect(
            owned(
                Self.purchase("a", .autoRenewableSubscription, expiresAt: Self.now),
                Self.purchase("b", .autoRenewableSubscription, expiresAt: Self.now + 1),
                Self.purchase("c", .autoRenewableSubscription)
            ) == ["b 1"]
        )
    }

    @Test func withoutAReceiptNothingIsKnown() throws {
        let queue = SKPaymentQueue(
            configuration: .unreachable,
            callbacks: DispatchQueue(label: "test")
        )
        #expect(try queue.ownedProducts() == nil)
    }
}

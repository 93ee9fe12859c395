import ClockAndIDs
import Crypto
import EventTypes
import Foundation
import Messaging

@testable import Fulfillment

let startOfTime = Timestamp(millisecondsSinceEpoch: 1_760_000_000_000)
let appID = BundleID(unchecked: "com.example.app")

extension QueueKey {
    static func sample(_ account: String = "alice") -> QueueKey {
        QueueKey(accountID: AccountID(unchecked: account), bundleID: appID)
    }
}

extension Transaction {
    /// A transaction of `coins.100`, by default purchased at version 2.
    static func sample(
        _ number: Int64,
        version: Int = 2,
        state: TransactionState = .purchased,
        account: String = "alice",
        bundle: BundleID = appID,
        product: String = "coins.100",
        originalID: Int64? = nil,
        quantity: Int = 1,
        plan: [DeliveryTarget] = [.entitlement],
        revokedAt: Timestamp? = nil
    ) -> Transaction {
        Transaction(
            id: TransactionID(number: number),
            originalID: TransactionID(number: originalID ?? number),
            reason: state == .restored
                ? .restore : (originalID ?? number) == number ? .purchase : .ownedAgain,
            version: version,
            state: state,
            accountID: AccountID(unchecked: account),
            bundleID: bundle,
            productID: ProductID(unchecked: product),
            productVersion: 1,
            productType: .consumable,
            quantity: quantity,
            storefront: Storefront(unchecked: "USA"),
            price: Money(minorUnits: 99, currency: Currency(unchecked: "USD")),
            applicationUsername: nil,
            deliveryPlan: plan,
            requestedAt: startOfTime,
            purchasedAt: state == .purchased ? startOfTime : nil,
            revokedAt: revokedAt
        )
    }

    /// Returns the same transaction refunded, one version later.
    func refunded() -> Transaction {
        var transaction = self
        transaction.version += 1
        transaction.state = .purchased
        transaction.revokedAt = startOfTime.advanced(by: .seconds(60))
        return transaction
    }
}

extension HostedContent {
    /// A content of `level.1`.
    static func sample(
        version: String = "1.0",
        product: String = "level.1",
        bytes: [UInt8] = Array("content".utf8)
    ) -> HostedContent {
        HostedContent(
            contentIdentifier: ProductID(unchecked: product),
            version: ContentVersion(unchecked: version),
            length: Int64(bytes.count),
            sha256: ContentDigest(bytes: SHA256.hash(data: bytes))
        )
    }
}

extension ReceivedEvent {
    /// Returns the event that brings `fulfillment` a transaction: its receipt if it is paid.
    static func arrival(_ transaction: Transaction) throws -> ReceivedEvent {
        let isReceipt =
            (transaction.state == .purchased || transaction.state == .restored)
            && transaction.revokedAt == nil
        let type: EventType =
            switch transaction.state {
            case .purchasing: .transactionPurchasing
            case .deferred: .transactionDeferred
            case .failed: .transactionFailed
            default: isReceipt ? .receiptIssued : .transactionRefunded
            }
        let data =
            isReceipt
            ? try EventCoding.encode(
                ReceiptIssued(
                    transaction: transaction,
                    signingChainID: "1",
                    payloadSHA256: "00",
                    issuedAt: startOfTime
                )
            )
            : try EventCoding.encode(TransactionChanged(transaction: transaction))
        return ReceivedEvent(
            id: EventID(time: startOfTime),
            type: type,
            topic: isReceipt ? Topics.receiptsIssued.name : Topics.paymentsTransactions.name,
            key: transaction.accountID.rawValue,
            subject: transaction.id.rawValue,
            time: startOfTime,
            data: data
        )
    }
}

import ClockAndIDs
import Crypto
import EventTypes
import Foundation
import Messaging

@testable import Fulfillment

let startOfTime = StoreTime(millisecondsSinceEpoch: 1_760_000_000_000)
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
        revokedAt: StoreTime? = nil
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
    ///
    /// - Parameters:
    ///   - amount: The part that is given back; everything unless given.
    ///   - revokes: Whether the product is taken away.
    /// - Returns: The next version.
    func refunded(_ amount: Int64? = nil, revokes: Bool = true) -> Transaction {
        var transaction = self
        let time = startOfTime.advanced(by: .seconds(60))
        let rest = price.minorUnits - refundedAmount.minorUnits
        transaction.version += 1
        transaction.state = .purchased
        if revokes { transaction.revokedAt = revokedAt ?? time }
        transaction.refunds =
            (refunds ?? []) + [
                Refund(
                    number: (refunds ?? []).count + 1,
                    amount: Money(minorUnits: amount ?? rest, currency: price.currency),
                    refundedAt: time,
                    revokes: revokes
                )
            ]
        return transaction
    }

    /// Returns the same transaction with its newest refund reversed, one version later.
    func refundReversed() -> Transaction {
        var transaction = self
        transaction.version += 1
        transaction.revokedAt = nil
        let newest = (refunds ?? []).indices.last { refunds?[$0].reversedAt == nil }
        if let newest {
            transaction.refunds?[newest].reversedAt = startOfTime.advanced(by: .seconds(120))
        }
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
        let isRefunded = transaction.revokedAt != nil || transaction.refunds != nil
        let isReceipt =
            (transaction.state == .purchased || transaction.state == .restored) && !isRefunded
        let type: EventType =
            switch transaction.state {
            case .purchasing:
                transaction.version == 1 ? .transactionPurchasing : .transactionWaitChanged
            case .deferred: .transactionDeferred
            case .failed: .transactionFailed
            default:
                transaction.refunds?.contains { $0.reversedAt != nil } == true
                    ? .transactionRefundReversed : .transactionRefunded
            }
        if isReceipt { return try receipt(of: transaction) }
        return try ReceivedEvent(
            id: EventID(time: startOfTime),
            type: type,
            topic: Topics.paymentsTransactions.name,
            key: transaction.accountID.rawValue,
            subject: transaction.id.rawValue,
            time: startOfTime,
            data: EventCoding.encode(TransactionChanged(transaction: transaction))
        )
    }

    /// Returns the event that says that a transaction was signed again, because it changed.
    static func reissue(of transaction: Transaction) throws -> ReceivedEvent {
        try ReceivedEvent(
            id: EventID(time: startOfTime),
            type: .receiptReissued,
            topic: Topics.receiptsIssued.name,
            key: transaction.accountID.rawValue,
            subject: transaction.id.rawValue,
            time: startOfTime,
            data: EventCoding.encode(
                ReceiptReissued(
                    transactionID: transaction.id,
                    originalTransactionID: transaction.originalID,
                    transaction: transaction,
                    signingChainID: "1",
                    payloadSHA256: "00",
                    issuedAt: startOfTime,
                    signing: ReceiptSigning(
                        appAccountToken: nil,
                        appTransactionID: nil,
                        environment: "Sandbox",
                        historyPosition: 2,
                        signature: ""
                    )
                )
            )
        )
    }

    /// Returns the event that says that a transaction was signed.
    static func receipt(of transaction: Transaction) throws -> ReceivedEvent {
        let data = try EventCoding.encode(
            ReceiptIssued(
                transaction: transaction,
                signingChainID: "1",
                payloadSHA256: "00",
                issuedAt: startOfTime
            )
        )
        return ReceivedEvent(
            id: EventID(time: startOfTime),
            type: .receiptIssued,
            topic: Topics.receiptsIssued.name,
            key: transaction.accountID.rawValue,
            subject: transaction.id.rawValue,
            time: startOfTime,
            data: data
        )
    }
}

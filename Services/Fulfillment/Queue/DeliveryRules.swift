import EventTypes

/// What a purchase's delivery plan asks for, target by target.
///
/// Pure.
///
/// Entitlement and credit are rows of our own and so are done with the change itself; a webhook is
/// owed until its recipient confirms it; the app confirms by finishing.
enum DeliveryRules {
    /// How the target of a webhook that tells of a refund ends.
    static let refundSuffix = ":refund"

    /// How far one delivery is.
    enum State: String, Sendable {
        /// Owed.
        case pending
        /// Confirmed by its recipient.
        case delivered
        /// No longer owed: the purchase was refunded first.
        case void
    }

    /// One row of the deliveries ledger.
    struct Delivery: Hashable, Sendable {
        let transactionID: TransactionID
        /// Its place in the plan and its kind, which no later version of the transaction changes; of
        /// the webhook that tells of a refund, the place and `refund`.
        let target: String
        let kind: String
        /// Where a webhook goes.
        let url: String?
        var state: State
    }

    /// A credit that a purchase gives, once.
    struct Credit: Hashable, Sendable {
        let transactionID: TransactionID
        let queue: QueueKey
        let unit: String
        let amount: Int64
    }

    /// The deliveries of a purchase that has just been paid.
    static func deliveries(of transaction: Transaction) -> [Delivery] {
        transaction.deliveryPlan.enumerated().map { index, target in
            let isVoid = transaction.revokedAt != nil
            return Delivery(
                transactionID: transaction.id,
                target: "\(index):\(target.kind)",
                kind: target.kind,
                url: target.webhookURL,
                state: isVoid ? .void : target.isDoneWithTheChange ? .delivered : .pending
            )
        }
    }

    /// What is owed because a purchase was refunded: each webhook of its plan is told.
    ///
    /// It is owed whatever became of the purchase's own webhook: that may have arrived though its
    /// answer did not. A refunded copy takes nothing away, so nobody is told of it.
    static func refunds(of transaction: Transaction) -> [Delivery] {
        guard transaction.revokedAt != nil, transaction.id == transaction.originalID else {
            return []
        }
        return transaction.deliveryPlan.enumerated().compactMap { index, target in
            target.webhookURL.map { url in
                Delivery(
                    transactionID: transaction.id,
                    target: "\(index)\(Self.refundSuffix)",
                    kind: target.kind,
                    url: url,
                    state: .pending
                )
            }
        }
    }

    /// Whether nothing is owed but what the app itself does.
    static func isDelivered(_ deliveries: [Delivery]) -> Bool {
        deliveries.allSatisfy { $0.state != .pending || $0.kind == DeliveryTarget.app.kind }
    }

    /// Whether the plan makes the account own the product.
    static func grantsEntitlement(_ transaction: Transaction) -> Bool {
        transaction.deliveryPlan.contains(.entitlement)
    }

    /// The credits of a purchase, one for each unit of its plan.
    ///
    /// A copy (restored, or bought again while owned) gives none: its original did.
    ///
    /// - Throws: ``FulfillmentError`` if an amount times the quantity cannot be held.
    static func credits(of transaction: Transaction) throws(FulfillmentError) -> [Credit] {
        guard transaction.id == transaction.originalID else { return [] }
        var amounts: [String: Int64] = [:]
        for case .credit(let unit, let amount) in transaction.deliveryPlan {
            let (product, overflows) = amount.multipliedReportingOverflow(
                by: Int64(transaction.quantity)
            )
            let (sum, sumOverflows) = amounts[unit, default: 0].addingReportingOverflow(product)
            guard !overflows, !sumOverflows else {
                throw FulfillmentError(
                    .creditTooLarge,
                    "the credit of a purchase is more than 64 bits hold"
                )
            }
            amounts[unit] = sum
        }
        return amounts.sorted { $0.key < $1.key }.map { unit, amount in
            Credit(
                transactionID: transaction.id,
                queue: transaction.queue,
                unit: unit,
                amount: amount
            )
        }
    }
}

extension DeliveryTarget {
    fileprivate var isDoneWithTheChange: Bool {
        switch self {
        case .entitlement, .credit: true
        case .webhook, .app, .unknown: false
        }
    }

    fileprivate var webhookURL: String? {
        guard case .webhook(let url) = self else { return nil }
        return url
    }
}

extension Transaction {
    /// The queue it stands in.
    var queue: QueueKey { QueueKey(accountID: accountID, bundleID: bundleID) }

    /// Whether the store has received payment, or received it once for the original.
    var isPaid: Bool { state == .purchased || state == .restored }
}

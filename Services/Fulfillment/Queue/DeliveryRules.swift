import EventTypes

/// The rules for the deliveries of a purchase, one for each target of its delivery plan.
///
/// Pure.
///
/// Entitlements and credits are rows in this database, so they are delivered together with the
/// change. A webhook is owed until its recipient confirms it. The app confirms by finishing.
enum DeliveryRules {
    /// The suffix of the target of a webhook that reports a refund.
    static let refundSuffix = ":refund"

    /// The state of one delivery.
    enum State: String, Sendable {
        /// Owed.
        case pending
        /// Confirmed by its recipient.
        case delivered
        /// No longer owed, because the purchase was refunded before the delivery.
        case void
    }

    /// One row of the table `deliveries`.
    struct Delivery: Hashable, Sendable {
        let transactionID: TransactionID
        /// The target's place in the plan and its kind, which no later version of the transaction
        /// changes.
        ///
        /// For a webhook that reports a refund: the place and `refund`.
        let target: String
        let kind: String
        /// The URL that a webhook is sent to.
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

    /// Returns the deliveries of a purchase that has just been paid.
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

    /// Returns the deliveries that a refund causes: a webhook for each webhook of the plan.
    ///
    /// They are owed whatever happened to the purchase's own webhook, which may have arrived even
    /// if its answer did not. Refunding a copy takes nothing away, so nobody is informed.
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

    /// Whether every delivery is done, apart from those that the app itself confirms.
    static func isDelivered(_ deliveries: [Delivery]) -> Bool {
        deliveries.allSatisfy { $0.state != .pending || $0.kind == DeliveryTarget.app.kind }
    }

    /// Whether the delivery plan gives the account an entitlement to the product.
    static func grantsEntitlement(_ transaction: Transaction) -> Bool {
        transaction.deliveryPlan.contains(.entitlement)
    }

    /// Returns the credits of a purchase, one for each unit of its plan.
    ///
    /// A copy (restored, or bought again while owned) gives none, because its original already did.
    ///
    /// - Throws: ``FulfillmentError`` if an amount times the quantity overflows.
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
    /// The queue that the transaction belongs to.
    var queue: QueueKey { QueueKey(accountID: accountID, bundleID: bundleID) }

    /// Whether the store has received payment for the transaction, or for its original.
    var isPaid: Bool { state == .purchased || state == .restored }
}

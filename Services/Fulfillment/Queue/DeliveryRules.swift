import EventTypes

/// The rules for the deliveries of a purchase.
///
/// Pure.
///
/// Entitlements and credits are rows in this database, so they are delivered together with the
/// change, and the app confirms its own part by finishing. Only a webhook is a delivery with a row
/// of its own, which stays pending until its recipient confirms it.
enum DeliveryRules {
    /// The state of one delivery.
    enum State: String, Sendable {
        /// Not confirmed yet.
        case pending
        /// Confirmed by its recipient.
        case delivered
        /// No longer to be confirmed, because the purchase was refunded before the delivery.
        case void
    }

    /// One row of the table `deliveries`.
    struct Delivery: Hashable, Sendable {
        let transactionID: TransactionID
        let target: DeliveryTargetName
        let kind: String
        /// The URL that a webhook is sent to.
        let url: String?
        var state: State
        /// The version of the transaction that causes the delivery.
        let version: Int

        /// Whether it reports a refund or its reversal.
        ///
        /// It then waits until all earlier calls to the same webhook are confirmed or void.
        var isOfRefund: Bool { target.isOfRefund }
    }

    /// A credit that a purchase gives, or that a refund takes back.
    struct Credit: Hashable, Sendable {
        /// The kinds of entries.
        enum Kind: String, Sendable {
            case grant
            case revoke
        }

        let transactionID: TransactionID
        let queue: QueueKey
        let unit: String
        let kind: Kind
        /// The number of the entry among those of its kind: for a grant, how often the purchase was
        /// given back before; for a revocation, how often it was taken away with it.
        ///
        /// It follows from the transaction alone, so an entry has its effect once.
        let number: Int
        let amount: Int64
    }

    /// Returns the deliveries of a purchase that has just been paid.
    static func deliveries(of transaction: Transaction) -> [Delivery] {
        transaction.deliveryPlan.enumerated().compactMap { index, target in
            guard !target.isDoneWithTheChange, target != .app else { return nil }
            return Delivery(
                transactionID: transaction.id,
                target: .purchase(entry: index, kind: target.kind),
                kind: target.kind,
                url: target.webhookURL,
                state: transaction.revokedAt == nil ? .pending : .void,
                version: transaction.version
            )
        }
    }

    /// Returns the deliveries that refunds and their reversals cause: a webhook each for each
    /// webhook of the plan.
    ///
    /// They are sent no matter what happened to the purchase's own webhook, which may have arrived
    /// even if its answer did not. Refunding a copy takes nothing away, so nobody is informed.
    static func refunds(of transaction: Transaction) -> [Delivery] {
        guard !transaction.reason.isCopy else { return [] }
        let refunds = transaction.reportedRefunds
        guard !refunds.isEmpty else { return [] }
        return transaction.deliveryPlan.enumerated().flatMap { index, target -> [Delivery] in
            guard let url = target.webhookURL else { return [] }
            let targets = refunds.flatMap { refund -> [DeliveryTargetName] in
                let target = DeliveryTargetName.refund(refund.number, entry: index)
                guard refund.isReversed else { return [target] }
                return [target, .reversal(ofRefund: refund.number, entry: index)]
            }
            return targets.map {
                Delivery(
                    transactionID: transaction.id,
                    target: $0,
                    kind: target.kind,
                    url: url,
                    state: .pending,
                    version: transaction.version
                )
            }
        }
    }

    /// Whether every delivery is done.
    static func isDelivered(_ deliveries: [Delivery]) -> Bool {
        deliveries.allSatisfy { $0.state != .pending }
    }

    /// Whether the delivery plan gives the account an entitlement to the product.
    static func grantsEntitlement(_ transaction: Transaction) -> Bool {
        transaction.deliveryPlan.contains(.entitlement)
    }

    /// Returns the credits that a purchase gives or, by the same entries with the opposite sign,
    /// takes back; one for each unit of its plan.
    ///
    /// A copy (restored, or bought again while owned) gives none, because its original already did.
    ///
    /// - Throws: ``FulfillmentError`` if an amount times the quantity overflows.
    static func credits(
        of transaction: Transaction,
        _ kind: Credit.Kind = .grant
    ) throws(FulfillmentError) -> [Credit] {
        guard !transaction.reason.isCopy else { return [] }
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
        let revocations = transaction.reportedRefunds.filter(\.revokes)
        let number =
            kind == .grant ? revocations.count(where: \.isReversed) : revocations.count
        return amounts.sorted { $0.key < $1.key }.map { unit, amount in
            Credit(
                transactionID: transaction.id,
                queue: transaction.queue,
                unit: unit,
                kind: kind,
                number: number,
                amount: kind == .grant ? amount : -amount
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
    /// The refunds that webhooks report.
    ///
    /// A product that was taken away without a refund in the list counts as one refund.
    fileprivate var reportedRefunds: [(number: Int, revokes: Bool, isReversed: Bool)] {
        if let refunds, !refunds.isEmpty {
            return refunds.map { ($0.number, $0.revokes, $0.reversedAt != nil) }
        }
        return revokedAt == nil ? [] : [(1, true, false)]
    }

    /// The queue that the transaction belongs to.
    var queue: QueueKey { QueueKey(accountID: accountID, bundleID: bundleID) }

    /// Whether the transaction gives the account a period that its family shares.
    ///
    /// No subscription of the account says until when it has the service, so the transaction does.
    var isSharedPeriod: Bool { reason == .familyShared && subscription != nil }

    /// Whether the store has received payment for the transaction, or for its original.
    var isPaid: Bool { state == .purchased || state == .restored }
}

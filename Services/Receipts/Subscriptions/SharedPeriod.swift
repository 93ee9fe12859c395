import EventTypes

/// A period of a subscription of another account that a family shares with an account.
///
/// Pure.
struct SharedPeriod: Sendable {
    /// The account that has it.
    let owner: OwnerKey
    /// The transaction by which it has it, as it is signed.
    let share: SignedTransactionPayload
    /// The subscription of the account that pays.
    let bought: Subscription

    /// The subscription as the account has it (rows e43 to e45 of docs/subscriptions.md).
    ///
    /// It begins with the first share, and follows the one that is paid, also in a grace period. Its
    /// offers and its questions about prices are for whoever pays.
    ///
    /// - Parameter time: The present.
    /// - Returns: The subscription in the state that it has for the account.
    func subscription(at time: StoreTime) -> Subscription {
        let bought = SubscriptionStatus.present(bought, at: time)
        let isNewest = bought.period.transactionID == share.paidBy
        var shared = bought
        shared.id = share.originalTransactionId
        shared.accountID = owner.account
        if !isNewest, let earlier = bought.earlierPeriod, earlier.transactionID == share.paidBy {
            shared.period = earlier
        }
        shared.period.transactionID = share.transactionId
        shared.period.product.id = share.productId
        shared.period.start = share.purchaseDate
        shared.period.end = share.expiresDate ?? shared.period.end
        shared.period.offer = nil
        shared.earlierPeriod = nil
        shared.pendingOffer = nil
        shared.priceIncrease = nil
        if share.revocationDate != nil {
            shared.state = .revoked
            shared.autoRenewOffReason = .revoked
            shared.expirationIntent = nil
            shared.gracePeriodEnd = nil
            return shared
        }
        guard !isNewest else { return shared }
        shared.gracePeriodEnd = nil
        if time < shared.period.end {
            // The next period is paid early, and is not shared yet.
            shared.state = .active
        } else {
            shared.state = .expired
            shared.autoRenewOffReason = .ended
            shared.expirationIntent = .unknown
        }
        return shared
    }
}

extension SharedPeriod {
    /// Picks the period of each subscription that counts for the account.
    ///
    /// It is the newest one that stands and is not over. So if a next period is taken back before it
    /// begins, the running one counts again. If none stands, it is the newest one.
    ///
    /// - Parameters:
    ///   - periods: The periods, the newest first.
    ///   - time: The present.
    /// - Returns: One period for each subscription.
    static func counting(among periods: [SharedPeriod], at time: StoreTime) -> [SharedPeriod] {
        var counting: [SharedPeriod] = []
        for period in periods {
            let known = counting.firstIndex { $0.bought.id == period.bought.id }
            guard let known else {
                counting.append(period)
                continue
            }
            if !counting[known].isRunning(at: time), period.isRunning(at: time) {
                counting[known] = period
            }
        }
        return counting
    }

    /// Whether it was not taken away and is not over.
    private func isRunning(at time: StoreTime) -> Bool {
        guard share.revocationDate == nil, let end = share.expiresDate else { return false }
        return time < end
    }
}

extension SignedTransactionPayload {
    /// The transaction that paid the period; `nil` if the transaction is of no period.
    var paidBy: TransactionID? {
        webOrderLineItemId.flatMap { TransactionID(webOrderLineItemID: $0) }
    }
}

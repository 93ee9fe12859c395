import EventTypes

/// Everything that the acceptance of payments will write.
///
/// Pure.
struct AcceptancePlan {
    /// The payments; those that are granted without a charge are purchased already.
    private(set) var acceptances: [Acceptance]
    private(set) var ownershipChanges: [OwnershipChange] = []
    private(set) var events: [TransactionEvent] = []

    /// Plans the acceptance of payments.
    ///
    /// A payment that is granted without a charge also passes through `purchasing`.
    ///
    /// - Parameters:
    ///   - accepted: The payments, in the order they were accepted.
    ///   - holders: The ownerships of the non-consumables that they buy.
    ///   - ids: The source of the ids of postings.
    ///   - time: The time of acceptance.
    /// - Throws: ``PaymentError`` if the state machine refuses a grant.
    init(
        _ accepted: [Acceptance],
        meeting holders: [OwnershipKey: Ownership],
        drawing ids: IDSource,
        at time: StoreTime
    ) throws {
        acceptances = accepted
        events.reserveCapacity(accepted.count)
        var holders = holders
        for index in acceptances.indices {
            if acceptances[index].record.isOwnable {
                acceptances[index].meet(holders[acceptances[index].record.ownershipKey])
            }
            events.append(
                TransactionEvent(
                    transaction: acceptances[index].record.transaction,
                    type: .transactionPurchasing,
                    purchaseIntentID: acceptances[index].purchaseIntentID,
                    resumes: acceptances[index].resumes,
                    traceparent: acceptances[index].record.traceparent
                )
            )
            guard let grant = acceptances[index].grant else { continue }
            // A grant makes no posting.
            let machine = TransactionStateMachine(time: time, postingID: ids.posting(at: time))
            guard
                case .moved(let record, let type, _) = machine.apply(
                    grant,
                    to: acceptances[index].record
                )
            else { throw PaymentError(.undecided) }
            acceptances[index].record = record
            events.append(
                TransactionEvent(
                    transaction: record.transaction,
                    type: type,
                    traceparent: record.traceparent
                )
            )
            if let change = OwnershipRules.change(from: nil, to: record, at: time) {
                holders[change.key] = OwnershipRules.apply(change, to: holders[change.key])
                ownershipChanges.append(change)
            }
        }
    }
}

extension Acceptance {
    /// Grants a product that is owned already, and waits if another purchase of it is being
    /// charged.
    fileprivate mutating func meet(_ ownership: Ownership?) {
        let verdict = OwnershipRules.verdict(
            on: record.transaction.id,
            isFree: grant != nil,
            meeting: ownership
        )
        switch verdict {
        case .proceed, .fail: break
        case .grant(let originalID, let originalPurchasedAt):
            record.transaction.originalID = originalID
            record.transaction.reason = .ownedAgain
            record.transaction.price = .zero(record.transaction.price.currency)
            attempt = nil
            grant = .grantOwned(originalID: originalID, originalPurchasedAt: originalPurchasedAt)
        case .wait(let holder): attempt?.wait(for: holder)
        }
    }
}

import EventTypes
import Postgres
import StoreAPI
import Synchronization

/// Tells buyers on which page they have to act.
///
/// The address is stored nowhere: the processor is asked for it each time. If it knows the outcome by
/// then, as after the buyer came back from the page, the outcome is committed at once.
struct BuyerActionHandler: Sendable {
    let client: PostgresClient
    let processor: any PaymentProcessor
    let runner: ChargeRunner

    /// The answer to a buyer.
    enum Reply: Sendable {
        /// The account has no such transaction.
        case unknown
        /// Nobody has to act.
        case nothingToDo
        case act(BuyerAction, endsAt: MachineTime)
        /// The processor does not answer, so nobody knows.
        case processorIsAway
    }

    /// Finds the page for a transaction of an account.
    func action(of id: TransactionID, of account: AccountKey) async throws -> Reply {
        let (isKnown, waiting) = try await client.withConnection {
            connection -> (Bool, ProcessorAttempt?) in
            guard let record = try TransactionStore.load([id], on: connection)[id],
                record.accountKey == account
            else { return (false, nil) }
            return (true, try AttemptStore.awaitingAction(of: id, on: connection))
        }
        guard isKnown else { return .unknown }
        return try await action(for: waiting)
    }

    /// Finds the page for what a subscription of an account owes.
    ///
    /// Such a transaction is in no queue before it is paid, so an app knows only its subscription. A charge
    /// that the subscription would not take any more has no page.
    func action(
        ofSubscription id: TransactionID,
        of account: AccountKey
    ) async throws -> Reply {
        let (isKnown, waiting) = try await client.withConnection {
            connection -> (Bool, ProcessorAttempt?) in
            guard let row = try connection.read(SubscriptionStore.reading(id)).first,
                let subscription = row.subscription,
                row.key.accountID == account.accountID, row.key.bundleID == account.bundleID
            else { return (false, nil) }
            guard let asked = try AskedTryStore.open(of: subscription, on: connection) else {
                return (true, nil)
            }
            return (true, try AttemptStore.awaitingAction(of: asked, on: connection))
        }
        guard isKnown else { return .unknown }
        return try await action(for: waiting)
    }

    /// Asks the processor for the page of a charge; `nil` if none waits for its buyer.
    private func action(for waiting: ProcessorAttempt?) async throws -> Reply {
        // After the end the recovery has the charge ended, and a page would only delay it.
        guard let attempt = waiting, let end = attempt.actionEndsAt,
            end > runner.context.machineNow()
        else { return .nothingToDo }
        let found = Mutex<InquiryOutcome?>(nil)
        await runner.inquire([attempt]) { [processor] inquiries, answer in
            await processor.inquire(inquiries) { id, outcome in
                found.withLock { $0 = outcome }
                answer(id, outcome)
            }
        }
        switch found.withLock({ $0 }) {
        case .needsAction(let action, _): return .act(action, endsAt: end)
        case nil, .unavailable: return .processorIsAway
        default: return .nothingToDo
        }
    }
}

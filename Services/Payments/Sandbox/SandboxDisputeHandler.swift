import EventTypes
import Messaging
import Postgres
import StoreAPI

/// Disputes at the sandbox's processor, whose bank is a test.
///
/// A call that was interrupted is repeated: what the books say is settled again.
struct SandboxDisputeHandler: Sendable {
    let books: SandboxDisputeStore
    let disputes: DisputeHandler

    /// The answer to a step.
    enum Reply: Hashable, Sendable {
        /// There is no such transaction.
        case unknown
        /// The dispute is not at this step: nothing was paid, or it has ended otherwise.
        case refused
        case done(Transaction)
    }

    /// Takes a step of a dispute.
    func take(_ step: TestDisputeRequest.Step, of id: TransactionID) async throws -> Reply {
        let client = disputes.context.client
        let charge = try await client.withTransaction { connection in
            try connection.read(AttemptStore.locking(of: [id]))[
                AttemptKey(transactionID: id, kind: .charge)
            ]
        }
        if let charge {
            guard let dispute = try await books.write(step, of: charge) else { return .refused }
            guard try await disputes.settle(dispute) else { return .refused }
        }
        let record = try await client.withConnection { try TransactionStore.load([id], on: $0)[id] }
        guard let record else { return .unknown }
        return charge == nil ? .refused : .done(record.transaction)
    }
}

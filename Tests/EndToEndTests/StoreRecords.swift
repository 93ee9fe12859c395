import StoreAPI
import TestSupport

/// What the operator can see of everything that was ever written.
struct StoreRecords: Equatable {
    /// The transactions in all books.
    let transactions: [TransactionBooks]
    /// The heads of the sealed logs, which are digests over every event and posting.
    let heads: String
}

extension StoreHarness {
    /// What the operator can see now, once all books agree and all logs are sealed.
    func records() async throws -> StoreRecords {
        try await soundSeals()
        return StoreRecords(
            transactions: try await agreedBooks(),
            heads: try await operatorSays(["verify", "--heads-only"])
        )
    }
}

import StoreAPI
import TestSupport

/// The operator's view of everything that was ever written.
struct StoreRecords: Equatable {
    /// The transactions in all books.
    let transactions: [TransactionBooks]
    /// The heads of the sealed logs, which are digests of all events and postings.
    let heads: String
}

extension StoreHarness {
    /// Returns the current records, after all books agree and all logs are sealed.
    func records() async throws -> StoreRecords {
        try await soundSeals()
        return StoreRecords(
            transactions: try await agreedBooks(),
            heads: try await operatorSays(["verify", "--heads-only"])
        )
    }
}

import Synchronization

/// The accounts at Stripe that have cards of buyers, and that no setting names.
///
/// They are known from calls that could not be made.
final class MissingAccounts: Sendable {
    private let names = Mutex<Set<StripeAccountName>>([])

    /// Notes an account.
    func note(_ name: StripeAccountName) {
        names.withLock { _ = $0.insert(name) }
    }

    /// The accounts, as a sentence; `nil` if there are none.
    var problem: String? {
        let found = names.withLock { $0.sorted() }
        guard !found.isEmpty else { return nil }
        return """
            Buyers have cards at accounts at Stripe that no setting names, and their payments wait: \
            \(found.map(\.rawValue).joined(separator: ", "))
            """
    }
}

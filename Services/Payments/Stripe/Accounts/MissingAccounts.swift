import Synchronization

/// The accounts at Stripe that the store has used, and that no setting names any more.
///
/// They are known from lists that were read once, and from calls that could not be made.
final class MissingAccounts: Sendable {
    private let names = Mutex<Set<ProcessorAccountName>>([])

    /// Notes an account.
    func note(_ name: ProcessorAccountName) {
        names.withLock { _ = $0.insert(name) }
    }

    /// The accounts, as a sentence; `nil` if there are none.
    var problem: String? {
        let found = names.withLock { $0.sorted() }
        guard !found.isEmpty else { return nil }
        return """
            No setting names these accounts at Stripe any more, and payments by their cards wait: \
            \(found.map(\.rawValue).joined(separator: ", "))
            """
    }
}

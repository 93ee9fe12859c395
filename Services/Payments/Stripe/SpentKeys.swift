import Synchronization

/// The keys under which Stripe keeps an error, so that no call under them will ever do anything.
///
/// They are known from the answer to a repeated call. A process that starts anew learns them by the
/// next repetition.
final class SpentKeys: Sendable {
    private static let countMax = 10_000
    private let keys = Mutex<[CallKey]>([])

    /// Notes a key.
    func insert(_ key: CallKey) {
        keys.withLock { keys in
            guard !keys.contains(key) else { return }
            keys = Array((keys + [key]).suffix(Self.countMax))
        }
    }

    /// Whether a key is noted.
    func contains(_ key: CallKey) -> Bool { keys.withLock { $0.contains(key) } }
}

package import EventTypes
import Synchronization

/// The contents of valid tokens, by the hash of the token, until each expires.
///
/// The cache is limited: once it is full, a new entry replaces the oldest. Refusals are not cached.
package final class TokenCache<Digest: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var expiry: MachineTime
    }

    private struct Entries {
        var byDigest: [Digest: Entry] = [:]
        /// The digests in the order of their arrival; a ring once it is full.
        var order: [Digest] = []
        var oldest = 0
    }

    private let entries = Mutex(Entries())
    private let countMax: Int

    /// Makes an empty cache for a number of tokens.
    package init(countMax: Int = 10_000) {
        self.countMax = countMax
    }

    /// The contents of a token, if they are cached and the token is valid at a time.
    package func value(of digest: Digest, now: MachineTime) -> Value? {
        entries.withLock { entries in
            guard let entry = entries.byDigest[digest], now < entry.expiry else { return nil }
            return entry.value
        }
    }

    /// Caches the contents of a token, in place of those that it had.
    package func insert(_ value: Value, for digest: Digest, until expiry: MachineTime) {
        entries.withLock { entries in
            let previous = entries.byDigest.updateValue(
                Entry(value: value, expiry: expiry),
                forKey: digest
            )
            guard previous == nil else { return }
            guard entries.order.count == countMax else {
                entries.order.append(digest)
                return
            }
            entries.byDigest[entries.order[entries.oldest]] = nil
            entries.order[entries.oldest] = digest
            entries.oldest = (entries.oldest + 1) % countMax
        }
    }

    func removeAll() {
        entries.withLock { $0 = Entries() }
    }

    /// The number of cached tokens.
    var count: Int { entries.withLock { $0.byDigest.count } }
}

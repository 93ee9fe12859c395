import Crypto
import EventTypes
import Synchronization

/// The contents of verified tokens, by the hash of the token, until each expires.
///
/// The cache is limited: once it is full, a new entry replaces the oldest. Refusals are not cached.
final class TokenCache<Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var expiry: MachineTime
    }

    private struct Entries {
        var byDigest: [SHA256.Digest: Entry] = [:]
        /// The digests in the order of their arrival; a ring once it is full.
        var order: [SHA256.Digest] = []
        var oldest = 0
    }

    private let entries = Mutex(Entries())
    private let countMax: Int

    init(countMax: Int = 10_000) {
        self.countMax = countMax
    }

    func value(of digest: SHA256.Digest, now: MachineTime) -> Value? {
        entries.withLock { entries in
            guard let entry = entries.byDigest[digest], now < entry.expiry else { return nil }
            return entry.value
        }
    }

    func insert(_ value: Value, for digest: SHA256.Digest, until expiry: MachineTime) {
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

import EventTypes
import Synchronization

/// The keys under which Stripe keeps an error of its own, so that no call under them will ever do
/// anything more.
///
/// They are known from the answer to a repeated call. A process that starts anew learns them by the
/// next repetition. The call that has failed may still become known: Stripe says that its result is
/// open. So nothing is certain before a time has passed.
final class SpentKeys: Sendable {
    private struct Entry {
        let key: CallKey
        let since: MachineTime
    }

    /// The time after which an inquiry that finds nothing under a spent key is final.
    static let doubt = Duration.seconds(3600)
    private static let countMax = 10_000
    private let entries = Mutex<[Entry]>([])

    /// Notes a key.
    func insert(_ key: CallKey, at time: MachineTime) {
        entries.withLock { entries in
            guard !entries.contains(where: { $0.key == key }) else { return }
            entries = Array((entries + [Entry(key: key, since: time)]).suffix(Self.countMax))
        }
    }

    /// Whether nothing will become known of a key any more.
    func isFinal(_ key: CallKey, at time: MachineTime) -> Bool {
        entries.withLock { entries in
            guard let entry = entries.first(where: { $0.key == key }) else { return false }
            return entry.since.advanced(by: Self.doubt) <= time
        }
    }
}

import EventTypes
import Synchronization

/// Counts the bad tickets of an address, so that nobody tries them without end.
///
/// Each instance counts for itself. The codes that an account tries are counted in the database.
final class AddressLimit: Sendable {
    /// The most failures of an address in a window.
    static let failuresMax = 60
    /// The length of a window.
    static let window: Duration = .seconds(600)
    /// The most addresses in memory; beyond it, new ones share one count.
    static let addressesMax = 10_000

    private struct Count {
        let since: MachineTime
        var failures: Int
    }

    private let counts = Mutex<[String: Count]>([:])

    /// Whether an address may try once more.
    func mayTry(_ address: String, at now: MachineTime) -> Bool {
        counts.withLock { counts in
            guard let count = counts[Self.name(of: address, in: counts)],
                Self.isOpen(count, at: now)
            else { return true }
            return count.failures < Self.failuresMax
        }
    }

    /// Counts a failure of an address.
    func noteFailure(of address: String, at now: MachineTime) {
        counts.withLock { counts in
            if counts.count >= Self.addressesMax {
                counts = counts.filter { Self.isOpen($0.value, at: now) }
            }
            let name = Self.name(of: address, in: counts)
            if let count = counts[name], Self.isOpen(count, at: now) {
                counts[name]?.failures = count.failures + 1
            } else {
                counts[name] = Count(since: now, failures: 1)
            }
        }
    }

    private static func name(of address: String, in counts: [String: Count]) -> String {
        counts[address] != nil || counts.count < addressesMax ? address : "others"
    }

    private static func isOpen(_ count: Count, at now: MachineTime) -> Bool {
        now.duration(since: count.since) < window
    }
}

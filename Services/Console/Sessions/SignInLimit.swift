import EventTypes
import Synchronization

/// Counts sign-ins that failed, so that nobody tries tickets without end.
///
/// Only failures count. People behind one proxy share its address, and those who have good tickets are
/// never kept out by each other.
final class SignInLimit: Sendable {
    /// The most failures of an address in a window.
    static let failuresMax = 10
    /// The length of a window.
    static let window: Duration = .seconds(60)
    /// The most addresses in memory; beyond it, new ones share one count.
    static let addressesMax = 10_000
    /// The name of the count that further addresses share.
    private static let others = "others"

    private struct Count {
        let since: MachineTime
        var failures: Int
    }

    private let counts = Mutex<[String: Count]>([:])

    /// Whether an address may try once more.
    func mayTry(_ address: String, at now: MachineTime) -> Bool {
        counts.withLock { counts in
            let name = Self.name(of: address, in: counts)
            guard let count = counts[name], Self.isOpen(count, at: now) else { return true }
            return count.failures < Self.failuresMax
        }
    }

    /// Counts a failure of an address.
    func noteFailure(of address: String, at now: MachineTime) {
        counts.withLock { counts in
            let name = Self.name(of: address, in: counts)
            if let count = counts[name], Self.isOpen(count, at: now) {
                counts[name]?.failures = count.failures + 1
            } else {
                counts[name] = Count(since: now, failures: 1)
            }
        }
    }

    /// Forgets the windows that are over.
    func sweep(at now: MachineTime) {
        counts.withLock { $0 = $0.filter { Self.isOpen($0.value, at: now) } }
    }

    private static func name(of address: String, in counts: [String: Count]) -> String {
        counts[address] != nil || counts.count < addressesMax ? address : others
    }

    private static func isOpen(_ count: Count, at now: MachineTime) -> Bool {
        now.duration(since: count.since) < window
    }
}

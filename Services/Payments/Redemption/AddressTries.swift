import EventTypes
import NIOCore
import Synchronization

/// Counts the unknown codes that people type from an address, whatever accounts they have.
///
/// Only unknown codes count, and many people may share an address, so the limit is generous. Each
/// instance counts for itself.
final class AddressTries: Sendable {
    /// The length of a window.
    static let window = RedemptionHandler.window
    /// The most addresses in memory; further ones are not counted.
    static let addressesMax = 100_000

    private struct Count {
        let since: MachineTime
        var tries = 0
    }

    /// The most unknown codes from an address in a window.
    let triesMax: Int
    private let counts = Mutex<[String: Count]>([:])

    /// Makes a limit.
    init(triesMax: Int = 1000) { self.triesMax = triesMax }

    /// Counts a try before the code is looked for, so that tries at once do not get around the limit.
    ///
    /// - Returns: Whether the code may be looked for. If not, nothing is counted.
    func take(_ address: String, at now: MachineTime) -> Bool {
        counts.withLock { counts in
            if counts.count >= Self.addressesMax, counts[address] == nil {
                counts = counts.filter { Self.isOpen($0.value, at: now) }
                guard counts.count < Self.addressesMax else { return true }
            }
            var count = counts[address] ?? Count(since: now)
            if !Self.isOpen(count, at: now) { count = Count(since: now) }
            guard count.tries < triesMax else { return false }
            count.tries += 1
            counts[address] = count
            return true
        }
    }

    /// Takes a try back that was no unknown code.
    func giveBack(_ address: String) {
        counts.withLock { counts in
            guard let count = counts[address], count.tries > 0 else { return }
            counts[address] =
                count.tries > 1 ? Count(since: count.since, tries: count.tries - 1) : nil
        }
    }

    private static func isOpen(_ count: Count, at now: MachineTime) -> Bool {
        now.duration(since: count.since) < window
    }

    /// The address that a proxy names in a header; `nil` if the text names none.
    ///
    /// If there are several, the last is the one that the nearest proxy has seen. Of an IPv6 address only
    /// the first half counts, because a customer of a network has all addresses with it.
    static func address(in header: String) -> String? {
        guard let text = header.split(separator: ",").last?.drop(while: { $0 == " " }),
            // What is no address is not counted.
            let known = try? SocketAddress(ipAddress: String(text), port: 0).ipAddress
        else { return nil }
        // An IPv4 address, which may be written as one of IPv6.
        if known.contains(".") { return known.split(separator: ":").last.map { String($0) } }
        let sides = known.split(separator: "::", omittingEmptySubsequences: false)
        let head = sides[0].split(separator: ":")
        let tail = sides.count > 1 ? sides[1].split(separator: ":") : []
        let zeros = [Substring](repeating: "0", count: max(0, 8 - head.count - tail.count))
        return (head + zeros + tail).prefix(4).joined(separator: ":")
    }
}

import EventTypes
import NIOCore
import Synchronization

/// Counts the unknown codes that people type from an address, whatever accounts they have.
///
/// Only unknown codes count, and many people may share an address, so the limit is generous. Each
/// instance counts for itself, from hour to hour.
final class AddressTries: Sendable {
    private struct State {
        var since: MachineTime
        var tries: [String: Int] = [:]
    }

    /// The length of a window.
    static let window = RedemptionHandler.window
    /// The most addresses in a window; further ones are not counted.
    static let addressesMax = 100_000

    /// The most unknown codes from an address in a window.
    let triesMax: Int
    private let state = Mutex(State(since: MachineTime(millisecondsSinceEpoch: 0)))

    /// Makes a limit.
    init(triesMax: Int = 1000) { self.triesMax = triesMax }

    /// Counts a try before the code is looked for, so that tries at once do not get around the limit.
    ///
    /// - Returns: Whether the code may be looked for. If not, nothing is counted.
    func take(_ address: String, at now: MachineTime) -> Bool {
        state.withLock { state in
            // A clock that was ahead and is right again would keep a window open until it is there once more.
            let age = now.duration(since: state.since)
            if age >= Self.window || age < .zero - Self.window { state = State(since: now) }
            let tries = state.tries[address, default: 0]
            guard tries < triesMax else { return false }
            if tries > 0 || state.tries.count < Self.addressesMax {
                state.tries[address] = tries + 1
            }
            return true
        }
    }

    /// Takes a try back that was no unknown code.
    func giveBack(_ address: String) {
        state.withLock { state in
            guard let tries = state.tries[address] else { return }
            state.tries[address] = tries > 1 ? tries - 1 : nil
        }
    }

    /// The address that a proxy names in a header; `nil` if the text names none that is counted.
    ///
    /// If there are several, the last is the one that the nearest proxy has seen. Of an IPv6 address only
    /// the first half counts, because a customer of a network has all addresses with it. An address of a
    /// private network is most likely that of another proxy, behind which everybody would be one.
    static func address(in header: String) -> String? {
        guard let text = header.split(separator: ",").last?.drop(while: { $0 == " " }),
            // What is no address is not counted.
            let known = try? SocketAddress(ipAddress: String(text), port: 0).ipAddress
        else { return nil }
        // An IPv4 address, which may be written as one of IPv6.
        if known.contains(".") {
            let address = known.split(separator: ":").last.map { String($0) }
            return address.flatMap { isPrivate($0) ? nil : $0 }
        }
        // Of the eight groups, those that are zero may be left out at one place.
        let groups = known.split(separator: ":", omittingEmptySubsequences: false)
        let head = Array(groups.prefix { !$0.isEmpty })
        let tail = groups.dropFirst(head.count).filter { !$0.isEmpty }
        let zeros = [Substring](repeating: "0", count: max(0, 8 - head.count - tail.count))
        let network = (head + zeros + tail).prefix(4)
        return isPrivate(network) ? nil : network.joined(separator: ":")
    }

    /// Whether an IPv4 address is of a private or a shared network, or of the machine itself.
    private static func isPrivate(_ address: String) -> Bool {
        let bytes = address.split(separator: ".").compactMap { UInt8($0) }
        guard bytes.count == 4 else { return true }
        switch (bytes[0], bytes[1]) {
        case (0, _), (10, _), (127, _), (192, 168), (169, 254), (172, 16...31), (100, 64...127):
            return true
        default: return false
        }
    }

    /// Whether the first groups of an IPv6 address are those of a private network, of a link, or of the
    /// machine itself.
    private static func isPrivate(_ network: ArraySlice<Substring>) -> Bool {
        guard let first = network.first.flatMap({ UInt16($0, radix: 16) }) else { return true }
        return first & 0xFE00 == 0xFC00 || first & 0xFFC0 == 0xFE80
            || network.allSatisfy { UInt16($0, radix: 16) == 0 }
    }
}

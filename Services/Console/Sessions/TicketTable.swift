import Crypto
import EventTypes
import Synchronization

/// The tickets that wait for a browser, each with the token of the administrator who asked for it.
///
/// They are in memory. The token itself never reaches a browser.
final class TicketTable: Sendable {
    /// The time for which a ticket is good.
    static let lifetime: Duration = .seconds(60)
    /// The largest number of tickets that wait; the oldest makes room.
    static let countMax = 1000

    private struct Ticket {
        let token: String
        let issuedAt: MachineTime
    }

    private let tickets = Mutex<[SHA256Digest: Ticket]>([:])

    /// Issues a ticket for a token that was verified.
    func issue(for token: String, at now: MachineTime) -> String {
        let secret = RandomSecret.make()
        tickets.withLock { tickets in
            if tickets.count >= Self.countMax,
                let oldest = tickets.min(by: { $0.value.issuedAt < $1.value.issuedAt })
            {
                tickets[oldest.key] = nil
            }
            tickets[RandomSecret.digest(of: secret)] = Ticket(token: token, issuedAt: now)
        }
        return secret
    }

    /// Takes a ticket, which is then used up.
    ///
    /// - Returns: The token; `nil` if there is no such ticket, or it is too old.
    func take(_ secret: String, at now: MachineTime) -> String? {
        tickets.withLock { tickets in
            guard let ticket = tickets.removeValue(forKey: RandomSecret.digest(of: secret)),
                Self.isGood(ticket, at: now)
            else { return nil }
            return ticket.token
        }
    }

    /// Forgets the tickets with some tokens, which then open nothing.
    func forget(whoseTokens isChosen: (String) -> Bool) {
        let waiting = tickets.withLock { $0 }
        // A token is judged without the lock, because its signature is verified for that.
        let chosen = waiting.filter { isChosen($0.value.token) }.map(\.key)
        tickets.withLock { tickets in
            for digest in chosen { tickets[digest] = nil }
        }
    }

    /// Forgets the tickets that are too old, with their tokens.
    func sweep(at now: MachineTime) {
        tickets.withLock { $0 = $0.filter { Self.isGood($0.value, at: now) } }
    }

    /// The number of tickets in memory.
    var count: Int { tickets.withLock(\.count) }

    private static func isGood(_ ticket: Ticket, at now: MachineTime) -> Bool {
        now.duration(since: ticket.issuedAt) <= lifetime
    }
}

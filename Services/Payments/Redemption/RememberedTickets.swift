import EventTypes
import Synchronization

/// The tickets that this process has read, so that a form need not read its ticket again.
///
/// A ticket never changes and is never taken back before its end. Only the code that the page has shown
/// last may be another one by now, if another instance has shown it. The holder has seen both.
final class RememberedTickets: Sendable {
    private static let ticketsMax = 10_000
    private let tickets = Mutex<[String: RedemptionTicket]>([:])

    /// The ticket of a digest, if it is remembered and good at a time.
    func ticket(_ digest: String, at now: MachineTime) -> RedemptionTicket? {
        guard let ticket = tickets.withLock({ $0[digest] }), ticket.endsAt > now else { return nil }
        return ticket
    }

    /// Remembers a ticket, in place of those that are over if there are too many.
    func remember(_ ticket: RedemptionTicket, _ digest: String, at now: MachineTime) {
        tickets.withLock { tickets in
            if tickets.count >= Self.ticketsMax {
                tickets = tickets.filter { $0.value.endsAt > now }
            }
            if tickets.count >= Self.ticketsMax { tickets.removeAll() }
            tickets[digest] = ticket
        }
    }
}

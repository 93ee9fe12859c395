import CLibpq
import Foundation

/// One request to the server to cancel what a connection is doing.
///
/// Libpq waits until the server has taken note, and for a server that is frozen it waits without an
/// end. So a thread of its own waits; the connection's looks whether it has come back.
final class CancelRequest: Sendable {
    private let told = DispatchSemaphore(value: 0)

    /// Sends the request.
    ///
    /// - Parameter connection: The `PGconn`, which stays open until this returns and no longer.
    init(_ connection: OpaquePointer) {
        // A copy of the address and the key of the session: it outlives the connection.
        guard let request = counterfoil_cancel_create(connection) else { return }
        let box = PointerBox(pointer: request)
        let thread = Thread { [self] in
            // What it says matters not: the answer of the statement does.
            counterfoil_cancel_send(box.pointer)
            told.signal()
        }
        thread.name = "pg-cancel"
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// Waits until the server has taken note; once.
    ///
    /// - Parameter deadline: The end of the waiting.
    /// - Returns: Whether it has. If not, the request may yet hit a later statement of the session.
    func waitUntilTold(until deadline: ContinuousClock.Instant) -> Bool {
        let left = max(ContinuousClock.now.duration(to: deadline), .zero)
        let nanoseconds =
            left.components.seconds * 1_000_000_000
            + left.components.attoseconds / 1_000_000_000
        return told.wait(timeout: .now() + .nanoseconds(Int(nanoseconds))) == .success
    }
}

/// A request of libpq's on its way to another thread.
///
/// `@unchecked`: that thread alone uses and frees it, once it has got it.
private struct PointerBox: @unchecked Sendable {
    let pointer: OpaquePointer
}

import CLibpq
import Foundation

/// One request to the server to cancel the current statement of a connection.
///
/// libpq waits until the server has received the request, and for a frozen server it waits without
/// limit. A separate thread therefore waits, and the connection's thread checks whether it is done.
final class CancelRequest: Sendable {
    private let told = DispatchSemaphore(value: 0)

    /// Sends the request.
    ///
    /// - Parameter connection: The `PGconn`, which must stay open until this initializer returns,
    ///   but no longer.
    init(_ connection: OpaquePointer) {
        // The request copies the address and the key of the session, so it can outlive the
        // connection.
        guard let request = counterfoil_cancel_create(connection) else { return }
        let box = PointerBox(pointer: request)
        let thread = Thread { [self] in
            // The result is ignored, because the answer to the statement shows whether it was
            // cancelled.
            counterfoil_cancel_send(box.pointer)
            told.signal()
        }
        thread.name = "pg-cancel"
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// Waits until the server has received the request; call it only once.
    ///
    /// - Parameter deadline: The end of the wait.
    /// - Returns: Whether it has. If not, the request may still cancel a later statement of the
    ///   session.
    func waitUntilTold(until deadline: ContinuousClock.Instant) -> Bool {
        let left = max(ContinuousClock.now.duration(to: deadline), .zero)
        let nanoseconds =
            left.components.seconds * 1_000_000_000
            + left.components.attoseconds / 1_000_000_000
        return told.wait(timeout: .now() + .nanoseconds(Int(nanoseconds))) == .success
    }
}

/// A libpq request that is passed to another thread.
private struct PointerBox:
    @unchecked Sendable  // It is passed once. Then only the other thread uses and frees it.
{
    let pointer: OpaquePointer
}

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The outcome of a wait for a socket.
enum SocketWait {
    /// The socket can be read or written, or it has failed.
    case ready
    /// The interrupter was raised first.
    case interrupted
    /// The time was up first.
    case timedOut

    /// Waits with one poll(2), on the calling thread.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - events: `POLLIN`, `POLLOUT` or both.
    ///   - deadline: The end of the wait; `nil` waits for ever.
    ///   - interrupter: Can end the wait early.
    init(
        on socket: Int32,
        for events: Int32,
        until deadline: ContinuousClock.Instant?,
        orUntil interrupter: Interrupter?
    ) {
        self = withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { descriptors in
            descriptors.initialize(repeating: pollfd())
            while true {
                // poll(2) ignores negative descriptors.
                descriptors[0] = pollfd(fd: socket, events: Int16(events), revents: 0)
                descriptors[1] = pollfd(
                    fd: interrupter?.descriptor ?? -1,
                    events: Int16(POLLIN),
                    revents: 0
                )
                let time = Self.milliseconds(until: deadline)
                let count = poll(descriptors.baseAddress, 2, time)
                if count > 0 {
                    return descriptors[0].revents != 0 ? .ready : .interrupted
                }
                if count == 0 || errno != EINTR {
                    return .timedOut
                }
            }
        }
    }

    /// Whether nothing has come on a socket, and it is still open.
    ///
    /// It returns at once. A session that is used by nobody may be asked from any thread.
    static func isQuiet(_ socket: Int32) -> Bool {
        guard socket >= 0 else { return false }
        return withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 1) { descriptors in
            let events = Int16(POLLIN)
            descriptors.initialize(repeating: pollfd(fd: socket, events: events, revents: 0))
            return poll(descriptors.baseAddress, 1, 0) == 0
        }
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return Int32(seconds * 1000) + Int32(attoseconds / 1_000_000_000_000_000) + 1
    }
}

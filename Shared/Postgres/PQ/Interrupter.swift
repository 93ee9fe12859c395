import CLibpq
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Wakes the thread of a connection from its wait for the server, from any other thread.
///
/// Each use of a connection begins a turn. Raising an interrupt for a turn that is over does
/// nothing, so a late cancellation of one caller never affects the next one.
final class Interrupter: Sendable {
    /// Counts the uses of a connection.
    typealias Turn = UInt64

    private struct State {
        var turn: Turn = 0
        var isRaised = false
    }

    private let state = Mutex(State())
    /// The descriptor to poll for reading.
    ///
    /// It is -1 if the system had no descriptor left; a wait then ends only at its timeout.
    let descriptor: Int32
    private let writeEnd: Int32

    init() {
        var readEnd: Int32 = -1
        var writeEnd: Int32 = -1
        if counterfoil_wakeup_open(&readEnd, &writeEnd) != 0 {
            readEnd = -1
            writeEnd = -1
        }
        descriptor = readEnd
        self.writeEnd = writeEnd
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        if writeEnd != descriptor {
            close(writeEnd)
        }
    }

    /// Begins a turn, and forgets an interrupt of the turn before.
    func beginTurn() -> Turn {
        state.withLock { state in
            if state.isRaised {
                var scratch: UInt64 = 0
                while read(descriptor, &scratch, 8) > 0 {}
                state.isRaised = false
            }
            state.turn += 1
            return state.turn
        }
    }

    /// Interrupts a turn, if it is still the current one.
    func raise(_ turn: Turn) {
        state.withLock { state in
            guard state.turn == turn, !state.isRaised else { return }
            state.isRaised = true
            var one: UInt64 = 1
            _ = write(writeEnd, &one, 8)
        }
    }

    /// Whether the current turn has been interrupted.
    var isRaised: Bool { state.withLock { $0.isRaised } }
}

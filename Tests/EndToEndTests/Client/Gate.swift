import Dispatch

/// Blocks threads until a test opens the gate.
final class Gate: Sendable {
    private let opened = DispatchSemaphore(value: 0)

    func open() { opened.signal() }

    func waitUntilOpen() {
        opened.wait()
        opened.signal()  // Whoever comes next does not wait either.
    }
}

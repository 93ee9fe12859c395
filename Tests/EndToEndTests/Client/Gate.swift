import Foundation

/// Blocks a thread until a test opens the gate.
///
/// `@unchecked`: the condition guards the only field.
final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false

    func open() {
        condition.lock()
        isOpen = true
        condition.broadcast()
        condition.unlock()
    }

    func waitUntilOpen() {
        condition.lock()
        defer { condition.unlock() }
        while !isOpen { condition.wait() }
    }
}

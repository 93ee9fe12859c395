import Dispatch
import Foundation
import StoreHarness

/// Turns Ctrl-C and SIGTERM into the cancellation of the work, so that everything is stopped in
/// order.
///
/// A second Ctrl-C quits at once; the children die with this process.
enum Interruption {
    /// Runs work that an interruption cancels.
    ///
    /// - Parameters:
    ///   - onInterrupt: Called once before the cancellation.
    ///   - work: The work.
    /// - Returns: Whether it was interrupted.
    /// - Throws: An error of the work, unless it was interrupted.
    @discardableResult
    static func cancelling(
        onInterrupt: @escaping @Sendable () -> Void = {},
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws -> Bool {
        let task = Task { try await work() }
        let counter = Counter()
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(
                signal: number,
                queue: .global(qos: .userInitiated)
            )
            source.setEventHandler {
                guard counter.next() == 1 else { exit(130) }
                onInterrupt()
                task.cancel()
            }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
        }
        do {
            try await task.value
            return false
        } catch {
            if counter.value > 0 { return true }
            throw error
        }
    }

    /// Waits for an interruption.
    static func wait() async throws {
        while !Task.isCancelled {
            try await Task.sleep(for: .seconds(3600))
        }
    }
}

import Synchronization

/// A point at which a proxy holds traffic.
///
/// From the nth matching message on, all matching messages stay in the proxy until ``release()``.
///
/// Messages of a client that dies are dropped.
public final class Hold: Sendable {
    /// The name of the point.
    public let name: String
    private let occurrence: Int
    private let state = Mutex<State>(State())

    private struct State {
        var matches = 0
        var dropped = 0
        var isReached = false
        var isReleased = false
        var resumptions: [@Sendable () -> Void] = []
    }

    init(name: String, occurrence: Int) {
        self.name = name
        self.occurrence = occurrence
    }

    /// Whether a message is or was held.
    public var isReached: Bool { state.withLock { $0.isReached } }

    /// Waits until a message is held.
    ///
    /// - Parameter limit: The time to wait.
    /// - Throws: ``HarnessError`` when the time is up.
    public func reached(within limit: Duration = .seconds(60)) async throws {
        try await eventually(within: limit, "a message to be held \(name)") {
            self.isReached ? () : nil
        }
    }

    /// Waits until all held messages have been dropped with their connection, which happens shortly
    /// after the client was killed.
    ///
    /// - Parameter limit: The time to wait.
    /// - Throws: ``HarnessError`` after the time limit.
    public func dropped(within limit: Duration = .seconds(60)) async throws {
        try await eventually(within: limit, "what was held \(name) to be dropped") {
            self.state.withLock { $0.dropped >= $0.resumptions.count } ? () : nil
        }
    }

    /// Releases everything that is held, and holds nothing from now on.
    public func release() {
        let resumptions = state.withLock { state in
            state.isReleased = true
            defer { state.resumptions = [] }
            return state.resumptions
        }
        for resume in resumptions {
            resume()
        }
    }

    /// Records that a connection with held messages was closed.
    func drop() { state.withLock { $0.dropped += 1 } }

    /// Whether to hold a matching message.
    ///
    /// The closure resumes it.
    func holds(resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isReleased else { return false }
            state.matches += 1
            guard state.matches >= occurrence else { return false }
            state.isReached = true
            state.resumptions.append(resume)
            return true
        }
    }
}

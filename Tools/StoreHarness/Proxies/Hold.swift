import Synchronization

/// A place where a proxy holds traffic: the nth message that matches, and every later one that
/// matches, stay in the proxy until ``release()``.
///
/// What is held for a client that dies is dropped.
public final class Hold: Sendable {
    /// The place, in words.
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

    /// Waits until everything that is held has been dropped with its connection, which is some
    /// moments after the client was killed.
    ///
    /// - Parameter limit: The time to wait.
    /// - Throws: ``HarnessError`` when the time is up.
    public func dropped(within limit: Duration = .seconds(30)) async throws {
        try await eventually(within: limit, "what was held \(name) to be dropped") {
            self.state.withLock { $0.dropped >= $0.resumptions.count } ? () : nil
        }
    }

    /// Lets everything held go on, and holds nothing any more.
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

    /// A connection that this holds something of was closed.
    func drop() { state.withLock { $0.dropped += 1 } }

    /// A message matches: whether to hold it, to be resumed by the closure.
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

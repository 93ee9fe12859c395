/// The account's token. It is requested once, kept, and requested again when the store refuses it.
///
/// Several requests that are refused at the same time request one new token. The program's function
/// may be slow or never return. Callers wait for it no longer than the timeout.
actor AccountTokens {
    typealias Ask = @Sendable (_ refused: String?) async throws -> String

    /// No token is available at present.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The maximum number of abandoned calls that have not returned.
    static let lostCallsMax = 4

    private let timeout: Duration
    private let ask: Ask
    private var asking: Task<String, any Error>?
    /// The number of calls that have not returned.
    private var callCount = 0

    init(timeout: Duration, ask: @escaping Ask) {
        self.timeout = timeout
        self.ask = ask
    }

    /// Returns the token, or a different token if one was refused.
    ///
    /// - Throws: The program's error, or ``Missing`` if it does not answer in time.
    func token(insteadOf refused: String? = nil) async throws -> String {
        if let current = asking {
            let token = try await current.value
            if token != refused { return token }
            // The first caller requests a new token, and the others wait for the answer.
            if asking == current { asking = nil }
            return try await self.token(insteadOf: refused)
        }
        let task = Task { try await self.call(refused) }
        asking = task
        do {
            return try await task.value
        } catch {
            if asking == task { asking = nil }
            throw error
        }
    }

    /// Requests a new token from the program, as a restore requires (spec rule 69).
    ///
    /// - Throws: The program's error, or ``Missing`` if it does not answer in time.
    func renewed() async throws -> String {
        asking = nil
        return try await token()
    }

    /// Calls the program's function and abandons the call after the timeout.
    ///
    /// The abandoned task is cancelled. Its result is ignored.
    private func call(_ refused: String?) async throws -> String {
        guard callCount < Self.lostCallsMax else {
            throw Missing(description: "the last \(callCount) times it was asked it never returned")
        }
        callCount += 1
        let (answers, answer) = AsyncThrowingStream<String, any Error>.makeStream()
        let call = Task { [ask] in
            do {
                answer.yield(try await ask(refused))
                answer.finish()
            } catch {
                answer.finish(throwing: error)
            }
            self.callReturned()
        }
        let end = Task { [timeout] in
            // If this is cancelled, there was an answer.
            try await Task.sleep(for: timeout)
            answer.finish(throwing: Missing(description: "it did not return within \(timeout)"))
        }
        defer {
            call.cancel()
            end.cancel()
        }
        for try await token in answers { return token }
        throw CancellationError()
    }

    private func callReturned() { callCount -= 1 }
}

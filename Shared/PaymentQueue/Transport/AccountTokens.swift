/// The account's token: asked for once, kept, and asked for again when the store refuses it.
///
/// Many requests that are refused at once ask once. The program's function may take its time, or
/// never return: nobody waits for it longer than the timeout.
actor AccountTokens {
    typealias Ask = @Sendable (_ refused: String?) async throws -> String

    /// There is no token now.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// How many calls may be out of which nobody expects an answer any more.
    static let lostCallsMax = 4

    private let timeout: Duration
    private let ask: Ask
    private var asking: Task<String, any Error>?
    /// The calls that have not returned.
    private var callCount = 0

    init(timeout: Duration, ask: @escaping Ask) {
        self.timeout = timeout
        self.ask = ask
    }

    /// The token, or another than the one that was refused.
    ///
    /// - Throws: What the program throws, or ``Missing`` when it does not answer in time.
    func token(insteadOf refused: String? = nil) async throws -> String {
        if let current = asking {
            let token = try await current.value
            if token != refused { return token }
            // Whoever comes first asks again; the others wait for the answer.
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

    /// A token that the program gives now, as restoring asks for (spec rule 69).
    ///
    /// - Throws: What the program throws, or ``Missing`` when it does not answer in time.
    func renewed() async throws -> String {
        asking = nil
        return try await token()
    }

    /// Calls the program's function, and lets go of it when the time is up: it is told that it is
    /// cancelled, and whether it returns after that makes no difference to anybody.
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
            // Cancelled: there was an answer.
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

/// The account's token: asked for once, kept, and asked for again when the store refuses it.
///
/// Many requests that are refused at once ask once.
actor AccountTokens {
    private let ask: @Sendable (_ refused: String?) async throws -> String
    private var asking: Task<String, any Error>?

    init(ask: @escaping @Sendable (_ refused: String?) async throws -> String) {
        self.ask = ask
    }

    /// The token, or another than the one that was refused.
    func token(insteadOf refused: String? = nil) async throws -> String {
        if let current = asking {
            let token = try await current.value
            if token != refused { return token }
            // Whoever comes first asks again; the others wait for the answer.
            if asking == current { asking = nil }
            return try await self.token(insteadOf: refused)
        }
        let task = Task { [ask] in try await ask(refused) }
        asking = task
        do {
            return try await task.value
        } catch {
            if asking == task { asking = nil }
            throw error
        }
    }
}

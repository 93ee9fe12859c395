import OperatorCore

extension ActRunner {
    /// Carries out an extension under a key that is the same for all who have seen the same state.
    ///
    /// - Throws: ``ConsoleProblem``, also if somebody else has asked for another one meanwhile.
    func extend<R>(
        _ name: String,
        on subject: String,
        by visitor: Visitor,
        back: ConsoleProblem.Back,
        _ work: () async throws -> R
    ) async throws -> R {
        try await run(name, on: subject, by: visitor, back: back) {
            do {
                return try await work()
            } catch let error as OperatorError where error.problemCode == "idempotency_key_reused" {
                throw ConsoleProblem(
                    409,
                    "Nothing was done: another extension was asked for meanwhile",
                    "Look at it before you ask for a further one.",
                    back: back
                )
            }
        }
    }
}

import StoreHarness

extension Terminal {
    /// Makes the books of a store again from its event log, and tells what came of it.
    ///
    /// - Throws: ``HarnessError`` with all differences if there are any.
    func prove(_ store: StoreHarness) async throws {
        heading("The proof: counterfoil replay --verify")
        let answer = try await store.counterfoil("replay", "--verify")
        guard answer.exit == .code(0) else {
            throw HarnessError("The books differ from the event log.\n\(answer.output)")
        }
        line("  " + (answer.output.split(separator: "\n").last.map(String.init) ?? ""))
    }
}

import StoreHarness

extension Terminal {
    /// Rebuilds a store's books from its event log, and shows the result.
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

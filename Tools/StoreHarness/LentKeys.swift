/// The keys that stores of this process borrow, one after another.
///
/// To make keys and certificates takes a third of a second of processor time, and to copy them takes
/// nearly none. The certificates contain the port of `receipts`, so each port goes with its keys.
actor LentKeys {
    static let shared = LentKeys()

    /// Keys that no store changes, because each works with a copy.
    struct Original: Sendable {
        let directory: String
        /// The port that the certificates contain.
        let receiptsPort: Int
    }

    private var free: [Original] = []
    private var lent: [Original] = []

    /// Lends keys that no running store has, and makes them if need be.
    func lend() async throws -> Original {
        let original = if let last = free.popLast() { last } else { try await Self.make() }
        lent.append(original)
        return original
    }

    /// Takes back the keys of a store that has ended.
    func takeBack(receiptsPort: Int) {
        free += lent.filter { $0.receiptsPort == receiptsPort }
        lent.removeAll { $0.receiptsPort == receiptsPort }
    }

    private static func make() async throws -> Original {
        let directory = try TemporaryClusters.makeDirectory()
        TemporaryClusters.removeAtExit(directory)
        let original = Original(directory: directory + "/keys", receiptsPort: try freePort())
        _ = try await StoreKeys.create(
            in: original.directory,
            receiptsPort: original.receiptsPort
        )
        return original
    }
}

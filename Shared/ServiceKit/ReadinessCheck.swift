/// One thing that has to be there before a service can do its work: a database connection, an
/// assigned partition, applied migrations.
public struct ReadinessCheck: Sendable {
    /// What is checked: `postgres`, `kafka`, `migrations`.
    public let name: String
    /// Tells whether it is there, without waiting for it.
    public let isReady: @Sendable () async -> Bool
    /// What is wrong while it is not there, as a sentence; `nil` where the name says enough.
    var explanation: @Sendable () async -> String? = { nil }

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - name: What is checked.
    ///   - isReady: Tells whether it is there, without waiting for it.
    public init(_ name: String, isReady: @escaping @Sendable () async -> Bool) {
        self.name = name
        self.isReady = isReady
    }

    /// Makes a check that says what is wrong.
    ///
    /// - Parameters:
    ///   - name: What is checked.
    ///   - failure: What is wrong, as a sentence without its full stop; `nil` if nothing is.
    public init(_ name: String, failure: @escaping @Sendable () async -> String?) {
        self.name = name
        isReady = { await failure() == nil }
        explanation = failure
    }
}

extension [ReadinessCheck] {
    /// The names of the checks that fail, each with what is wrong where the name does not say it.
    func failing() async -> [String] {
        var names: [String] = []
        for check in self where await !check.isReady() {
            let explanation = await check.explanation()
            names.append(explanation.map { "\(check.name) (\($0))" } ?? check.name)
        }
        return names
    }
}

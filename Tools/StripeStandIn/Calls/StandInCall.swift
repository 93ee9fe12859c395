/// A request to the API.
struct StandInCall: Hashable, Sendable {
    var method: String
    var path: String
    /// The parameters as they were sent.
    var encoded: String
    var key: String?

    /// The parts that are the same in every request under one key.
    var fingerprint: String { "\(method) \(path) \(encoded)" }

    var form: StandInForm { StandInForm(encoded) }

    /// The parts of the path after `/v1/`.
    var parts: [String] { path.split(separator: "/").dropFirst().map(String.init) }
}

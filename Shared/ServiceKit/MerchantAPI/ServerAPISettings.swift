/// The settings of the services that answer merchants' servers.
///
/// | key | default | meaning |
/// | --- | --- | --- |
/// | `SERVER_KEYS_DIRECTORY` | required | the keys of merchants' servers: `<key id>.json` |
/// | `SERVER_API_REQUESTS_PER_SECOND` | 50 | the limit for one server key on one instance |
public struct ServerAPISettings: Sendable {
    /// The directory with a `<key id>.json` for each key.
    public let keysDirectory: String
    /// The number of requests of one key that this instance answers in a second.
    public let requestsPerSecond: Int

    /// Makes settings from values.
    public init(keysDirectory: String, requestsPerSecond: Int = 50) {
        self.keysDirectory = keysDirectory
        self.requestsPerSecond = requestsPerSecond
    }

    /// Reads the settings.
    public init(_ reader: inout SettingsReader) {
        keysDirectory = reader.string(
            "SERVER_KEYS_DIRECTORY",
            "Public keys of merchants' servers: <key id>.json. They sign tokens of the server API."
        )
        requestsPerSecond = Self.requestsPerSecond(&reader)
    }

    /// Reads the limit of a service that answers merchants' servers only if it has their keys.
    ///
    /// - Returns: `nil` if the directory has no name.
    public init?(_ reader: inout SettingsReader, keysDirectory: String) {
        let requestsPerSecond = Self.requestsPerSecond(&reader)
        guard !keysDirectory.isEmpty else { return nil }
        self.init(keysDirectory: keysDirectory, requestsPerSecond: requestsPerSecond)
    }

    private static func requestsPerSecond(_ reader: inout SettingsReader) -> Int {
        reader.integer(
            "SERVER_API_REQUESTS_PER_SECOND",
            default: 50,
            in: 1...100_000,
            "Requests of one server key that this instance answers; further ones get 429."
        )
    }
}

/// The settings of an S3-compatible store.
struct S3Settings: Sendable {
    /// `https://host` or `http://host:port`.
    var endpoint: String
    var bucket: String
    var region: String
    /// The prefix of the names of all contents: empty, or ending in a slash.
    var prefix: String
    var accessKey: String
    var secretKey: String
    /// The time that the store may go without sending or receiving anything.
    var timeout: Duration
    /// The number of concurrent requests.
    ///
    /// Further ones wait for a connection.
    var connectionsMax: Int
    /// The time limit for removing an object, with all retries.
    ///
    /// It is well below ``HostedContentHandler/removalLease``, after which the same bytes may be
    /// stored again.
    var removalMax: Duration = .seconds(120)
}

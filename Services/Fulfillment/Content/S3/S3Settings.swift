/// Where an S3-compatible store is, and how it is asked.
struct S3Settings: Sendable {
    /// `https://host` or `http://host:port`.
    var endpoint: String
    var bucket: String
    var region: String
    /// What the names of all contents begin with; empty, or it ends in a slash.
    var prefix: String
    var accessKey: String
    var secretKey: String
    /// How long the store may say nothing, or take nothing.
    var timeout: Duration
    /// How many requests are made at once; further ones wait for a connection.
    var connectionsMax: Int
    /// How long removing an object may take, with all tries: well under
    /// ``HostedContentHandler/removalLease``, after which the same bytes may be kept anew.
    var removalMax: Duration = .seconds(120)
}

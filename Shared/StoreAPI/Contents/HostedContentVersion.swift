public import EventTypes

/// One version of a product's hosted content.
public struct HostedContentVersion: Codable, Hashable, Sendable {
    /// The version.
    public var version: ContentVersion
    /// How many bytes it has.
    public var length: Int64
    /// SHA-256 of its bytes.
    public var sha256: ContentDigest
    /// When it was uploaded first.
    public var createdAt: Timestamp
    /// Since when no new purchase gets it; `nil` while purchases may.
    public var withdrawnAt: Timestamp?
    /// Makes a version.
    public init(
        version: ContentVersion,
        length: Int64,
        sha256: ContentDigest,
        createdAt: Timestamp,
        withdrawnAt: Timestamp? = nil
    ) {
        self.version = version
        self.length = length
        self.sha256 = sha256
        self.createdAt = createdAt
        self.withdrawnAt = withdrawnAt
    }
}

public import EventTypes

/// One version of a product's hosted content.
public struct HostedContentVersion: Codable, Hashable, Sendable {
    /// The version.
    public var version: ContentVersion
    /// The length in bytes.
    public var length: Int64
    /// The SHA-256 digest of the bytes.
    public var sha256: ContentDigest
    /// The time of the first upload.
    public var createdAt: StoreTime
    /// The time at which it was withdrawn from new purchases; `nil` if it was not.
    public var withdrawnAt: StoreTime?
    /// Makes a version.
    public init(
        version: ContentVersion,
        length: Int64,
        sha256: ContentDigest,
        createdAt: StoreTime,
        withdrawnAt: StoreTime? = nil
    ) {
        self.version = version
        self.length = length
        self.sha256 = sha256
        self.createdAt = createdAt
        self.withdrawnAt = withdrawnAt
    }
}

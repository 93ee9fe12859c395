/// One version of a product's content, which the store hosts and apps download.
public struct HostedContent: Codable, Hashable, Sendable {
    /// The product that the content belongs to.
    public var contentIdentifier: ProductID
    /// The version of the content.
    public var version: ContentVersion
    /// The length in bytes.
    public var length: Int64
    /// The SHA-256 digest of the bytes.
    public var sha256: ContentDigest

    /// Makes a description of content.
    public init(
        contentIdentifier: ProductID,
        version: ContentVersion,
        length: Int64,
        sha256: ContentDigest
    ) {
        self.contentIdentifier = contentIdentifier
        self.version = version
        self.length = length
        self.sha256 = sha256
    }

    /// Encodes several contents as JSON, with the same bytes as `Encodable`.
    package static func json(of contents: [HostedContent]) -> [UInt8] {
        var text = PlainJSONText(capacity: 192 * contents.count)
        text.array(of: contents) { text, content in
            text.member("contentIdentifier", content.contentIdentifier.rawValue)
            text.member("length", content.length)
            text.member("sha256", content.sha256.rawValue)
            text.member("version", content.version.rawValue)
        }
        return text.bytes
    }

    /// Decodes several contents; `nil` if the JSON is not in plain form.
    static func list(from json: inout PlainJSON) -> [HostedContent]? {
        var contents: [HostedContent] = []
        let isRead = json.array { json in
            guard let content = HostedContent(from: &json) else { return false }
            contents.append(content)
            return true
        }
        return isRead ? contents : nil
    }

    private init?(from json: inout PlainJSON) {
        var contentIdentifier: ProductID?
        var version: ContentVersion?
        var length: Int64?
        var sha256: ContentDigest?
        let isRead = json.object { json, name in
            switch name {
            case "contentIdentifier": PlainJSON.keep(json.identifier(), in: &contentIdentifier)
            case "version": PlainJSON.keep(json.identifier(), in: &version)
            case "length": PlainJSON.keep(json.integer(), in: &length)
            case "sha256": PlainJSON.keep(json.identifier(), in: &sha256)
            default: json.skip()
            }
        }
        guard isRead, let contentIdentifier, let version, let length, let sha256 else { return nil }
        self.init(
            contentIdentifier: contentIdentifier,
            version: version,
            length: length,
            sha256: sha256
        )
    }
}

/// A version of a product's hosted content (`SKDownload.contentVersion`), chosen by the product's
/// developer.
public struct ContentVersion: Identifier {
    /// 1 to 64 letters, digits, hyphens, underscores and full stops, a letter or digit first.
    public static let form =
        "a content version of 1 to 64 letters, digits, hyphens, underscores and full stops, "
        + "a letter or digit first"
    /// The characters of the version.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is well-formed.
    ///
    /// A version is a path segment, so it must not be a segment with a special meaning such as
    /// `..`.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isName(rawValue, lengthMax: 64, punctuation: "-._")
            && isName(String(rawValue.prefix(1)), lengthMax: 1, punctuation: "")
    }
}

/// The SHA-256 digest of hosted content.
///
/// Content is stored and fetched by its digest.
public struct ContentDigest: Identifier {
    /// 64 hexadecimal digits in lower case.
    public static let form = "a SHA-256 of 64 hexadecimal digits in lower case"
    /// The digits.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Makes a digest from its 32 bytes.
    public init(bytes: some Sequence<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        rawValue = String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self
        )
    }
    /// Whether the string is 64 hexadecimal digits in lower case.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        rawValue.utf8.count == 64
            && rawValue.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}

import Crypto
import EventTypes
import Foundation

/// Signs requests to an S3-compatible store with AWS Signature Version 4, in one header, with the
/// SHA-256 of the payload known in advance.
///
/// Pure. Source: "Authenticating Requests: Using the Authorization Header (AWS Signature Version
/// 4)" of the Amazon S3 API reference. The test uses its examples. No library is used, because the
/// existing ones bring the complete client of a cloud with them.
struct S3Signer: Sendable {
    /// The SHA-256 of no bytes.
    static let emptyPayload = ContentDigest(bytes: SHA256.hash(data: [UInt8]()))

    private let accessKey: String
    private let secret: SymmetricKey
    private let region: String

    init(accessKey: String, secretKey: String, region: String) {
        self.accessKey = accessKey
        secret = SymmetricKey(data: Array("AWS4\(secretKey)".utf8))
        self.region = region
    }

    /// Formats the time for requests: `20130524T000000Z`.
    static func time(_ time: MachineTime) -> String {
        time.description.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    }

    /// Returns the header `Authorization` of a request without a query.
    ///
    /// - Parameters:
    ///   - method: `GET`, `PUT`, …
    ///   - path: The path as it is sent, with special characters percent-encoded.
    ///   - headers: The headers to sign: `host`, all that begin with `x-amz-`, and any others.
    ///     Names are in lower case, and values have no surrounding white space.
    ///   - payload: The SHA-256 of the body.
    ///   - time: The time in the header `x-amz-date`.
    /// - Returns: The header's value.
    func authorization(
        _ method: String,
        _ path: String,
        headers: [String: String],
        payload: ContentDigest,
        time: String
    ) -> String {
        let headers = headers.sorted { $0.key < $1.key }
        let names = headers.map(\.key).joined(separator: ";")
        let request = """
            \(method)
            \(path)

            \(headers.map { "\($0.key):\($0.value)\n" }.joined())
            \(names)
            \(payload)
            """
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let hash = ContentDigest(bytes: SHA256.hash(data: Array(request.utf8)))
        let key = [day, region, "s3", "aws4_request"].reduce(secret) { key, part in
            SymmetricKey(data: Self.code(of: part, under: key))
        }
        let signature = Self.code(
            of: "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(hash)",
            under: key
        )
        return "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), "
            + "Signature=\(ContentDigest(bytes: signature))"
    }

    private static func code(of text: String, under key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }
}

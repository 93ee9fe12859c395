import Crypto
import EventTypes
import Foundation

/// Signs webhooks as Standard Webhooks says: HMAC-SHA256 over the id, the time and the body.
struct WebhookSigner: Sendable {
    private let key: SymmetricKey

    /// Reads a secret.
    ///
    /// - Parameter secret: `whsec_` and base64 of 24 to 64 bytes, white space around it allowed.
    /// - Throws: ``FulfillmentError`` with the code `secretMalformed`.
    init(secret: String) throws(FulfillmentError) {
        let text = secret.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.hasPrefix("whsec_"), let bytes = Data(base64Encoded: String(text.dropFirst(6))),
            (24...64).contains(bytes.count)
        else {
            throw FulfillmentError(
                .secretMalformed,
                "the secret is not whsec_ followed by base64 of 24 to 64 bytes"
            )
        }
        key = SymmetricKey(data: bytes)
    }

    /// The three headers that prove a webhook's origin.
    ///
    /// - Parameters:
    ///   - id: The delivery's identity, the same at every try, by which a recipient knows it again.
    ///   - time: When this try is made; recipients refuse old ones.
    ///   - body: The bytes that are sent.
    /// - Returns: Names and values, in the order of the standard.
    func headers(id: String, time: Timestamp, body: [UInt8]) -> [(name: String, value: String)] {
        let seconds = String(time.millisecondsSinceEpoch / 1000)
        var authentication = HMAC<SHA256>(key: key)
        authentication.update(data: Array("\(id).\(seconds).".utf8))
        authentication.update(data: body)
        let signature = Data(authentication.finalize()).base64EncodedString()
        return [
            ("webhook-id", id), ("webhook-timestamp", seconds),
            ("webhook-signature", "v1,\(signature)"),
        ]
    }
}

import Crypto
import EventTypes
import Foundation

/// Signs webhooks by the Standard Webhooks specification: HMAC-SHA256 over the id, the time and the
/// body.
struct WebhookSigner: Sendable {
    private let key: SymmetricKey

    /// Reads a secret.
    ///
    /// - Parameter secret: `whsec_` followed by base64 of 24 to 64 bytes. White space around it is
    ///   allowed.
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

    /// Returns the three headers that prove a webhook's origin.
    ///
    /// - Parameters:
    ///   - id: The delivery's id, the same at every try, by which recipients detect duplicates.
    ///   - time: The time of this try, by the machines' clock. Recipients refuse old ones.
    ///   - body: The bytes that are sent.
    /// - Returns: The names and values, in the order of the standard.
    func headers(id: String, time: MachineTime, body: [UInt8]) -> [(name: String, value: String)] {
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

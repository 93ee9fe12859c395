import EventTypes
import Foundation
import ReceiptValidation

/// A JWS in compact form, split into its parts without a check of the signature.
struct SignedText: Hashable, Sendable {
    /// The complete JWS.
    let text: String
    /// The header as JSON.
    let header: Data
    /// The payload as JSON.
    let payload: Data
    /// The bytes that the signature covers.
    let signed: Data
    /// The signature.
    let signature: Data

    /// Splits a JWS into its parts; `nil` if it does not consist of three base64url parts.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= ReceiptValidator.jwsLengthMax, parts.count == 3,
            let header = Self.data(parts[0]), let payload = Self.data(parts[1]),
            let signature = Self.data(parts[2])
        else { return nil }
        self.text = text
        self.header = header
        self.payload = payload
        self.signature = signature
        signed = Data("\(parts[0]).\(parts[1])".utf8)
    }

    /// The decoded payload, whether or not it is valid; `nil` if it cannot be decoded.
    var claimed: JWSTransaction? { claimed(as: JWSTransaction.self) }

    /// Decodes the payload, whether or not it is valid.
    ///
    /// - Returns: The payload; `nil` if it cannot be decoded.
    func claimed<Payload: SignedPayload>(as type: Payload.Type) -> Payload? {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        // The decoding error does not matter because the payload is not trusted in any case.
        return try? decoder.decode(type, from: payload)
    }

    private static func data(_ part: Substring) -> Data? {
        StrictBase64.decode(part).map { Data($0) }
    }
}

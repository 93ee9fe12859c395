import EventTypes
import Foundation
import ReceiptValidation

/// A JWS in compact form, taken apart without looking at its signature.
struct SignedText: Hashable, Sendable {
    /// The whole of it.
    let text: String
    /// The JSON of its header.
    let header: Data
    /// The JSON of its payload.
    let payload: Data
    /// What its signature is of.
    let signed: Data
    /// The signature.
    let signature: Data

    /// Takes a JWS apart; `nil` if it does not have three parts of base64url.
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

    /// What it says, whether or not it is to be believed; `nil` if that cannot be read.
    var claimed: JWSTransaction? {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        // Why it cannot be read does not matter: nothing of it is believed.
        return try? decoder.decode(JWSTransaction.self, from: payload)
    }

    private static func data(_ part: Substring) -> Data? {
        StrictBase64.decode(Array(part.utf8)[...], .url).map { Data($0) }
    }
}

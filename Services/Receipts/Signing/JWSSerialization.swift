import EventTypes

/// The compact form of a JSON Web Signature (RFC 7515): three parts in base64url, joined by dots.
///
/// Only the payload and the signature of a receipt are stored. The header contains three
/// certificates. It is the same for all receipts of a chain, and is stored once.
enum JWSSerialization {
    /// Assembles a receipt from its parts.
    ///
    /// - Parameters:
    ///   - header: The first part, already in base64url.
    ///   - payload: The bytes that were signed.
    ///   - signature: The 64 bytes of the signature.
    /// - Returns: The compact form.
    static func joined(header: String, payload: [UInt8], signature: [UInt8]) -> String {
        let payload = StrictBase64.text(payload)
        let signature = StrictBase64.text(signature)
        return "\(header).\(payload).\(signature)"
    }
}

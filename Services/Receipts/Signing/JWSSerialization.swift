/// The compact form of a JSON Web Signature (RFC 7515): three parts in base64url, joined by dots.
///
/// Only the payload and the signature of a receipt are stored; the header, which holds three
/// certificates, is the same for all receipts of a chain and is stored once.
enum JWSSerialization {
    /// Puts a receipt together again.
    ///
    /// - Parameters:
    ///   - header: The first part, already in base64url.
    ///   - payload: The bytes that were signed.
    ///   - signature: The 64 bytes of the signature.
    /// - Returns: The compact form.
    static func joined(header: String, payload: [UInt8], signature: [UInt8]) -> String {
        let payload = String(decoding: base64URL(payload), as: UTF8.self)
        let signature = String(decoding: base64URL(signature), as: UTF8.self)
        return "\(header).\(payload).\(signature)"
    }

    /// The characters of base64url without padding (RFC 4648, section 5).
    static func base64URL(_ bytes: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity((bytes.count * 4 + 2) / 3)
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if count > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if count > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0...count {
                encoded.append(alphabet[Int(group >> (18 - 6 * UInt32(position))) & 0x3F])
            }
            index += 3
        }
        return encoded
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )
}

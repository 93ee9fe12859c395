/// Base64 with exactly one text for each value.
///
/// Any other text is rejected.
///
/// Foundation's decoder accepts characters whose unused last bits are not zero, so several texts
/// have the same bytes. A receipt with one changed character would then still be accepted as that
/// receipt.
package enum StrictBase64 {
    /// The 64 characters and the padding.
    package enum Alphabet: Sendable {
        /// The alphabet of RFC 4648, section 4, with padding. It is used for certificates in a JWS
        /// and receipts in `verifyReceipt`.
        case standard
        /// The alphabet of RFC 4648, section 5, without padding. It is used for the parts of a JWS.
        case url
    }

    /// Decodes a text.
    ///
    /// - Returns: The bytes, or `nil` if no encoder writes this text.
    package static func decode(_ text: ArraySlice<UInt8>, _ alphabet: Alphabet) -> [UInt8]? {
        var digits = text
        if alphabet == .standard {
            guard text.count.isMultiple(of: 4) else { return nil }
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") {
                digits.removeLast()
            }
        }
        let rest = digits.count % 4
        guard rest != 1 else { return nil }
        let table = alphabet == .standard ? standard : url
        return digits.withUnsafeBufferPointer { digits in
            table.withUnsafeBufferPointer { table in
                decode(digits, table)
            }
        }
    }

    /// Encodes bytes.
    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .url) -> [UInt8] {
        let characters = alphabet == .standard ? standardDigits : urlDigits
        return [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text, length in
            var index = 0
            while index < bytes.count {
                let count = min(3, bytes.count - index)
                var group = UInt32(bytes[index]) << 16
                if count > 1 { group |= UInt32(bytes[index + 1]) << 8 }
                if count > 2 { group |= UInt32(bytes[index + 2]) }
                for position in 0...count {
                    text[length] = characters[Int(group >> (18 - 6 * UInt32(position))) & 0x3F]
                    length += 1
                }
                index += 3
            }
            while alphabet == .standard, !length.isMultiple(of: 4) {
                text[length] = UInt8(ascii: "=")
                length += 1
            }
        }
    }

    /// Decodes a text.
    ///
    /// - Returns: The bytes, or `nil` if no encoder writes this text.
    package static func decode(
        _ text: some StringProtocol,
        _ alphabet: Alphabet = .url
    ) -> [UInt8]? {
        decode(Array(text.utf8)[...], alphabet)
    }

    /// Encodes bytes as a text.
    package static func text(
        _ bytes: some Sequence<UInt8>,
        _ alphabet: Alphabet = .url
    ) -> String {
        String(decoding: encode(Array(bytes), alphabet), as: UTF8.self)
    }

    private static func decode(
        _ digits: UnsafeBufferPointer<UInt8>,
        _ table: UnsafeBufferPointer<UInt8>
    ) -> [UInt8]? {
        var isWrong = false
        let bytes = [UInt8](unsafeUninitializedCapacity: digits.count / 4 * 3 + 2) { bytes, count in
            var group: UInt32 = 0
            var held = 0
            for digit in digits {
                let value = table[Int(digit)]
                guard value < 64 else {
                    isWrong = true
                    return
                }
                group = group << 6 | UInt32(value)
                held += 6
                if held >= 8 {
                    held -= 8
                    bytes[count] = UInt8(truncatingIfNeeded: group >> UInt32(held))
                    count += 1
                }
            }
            // The unused bits belong to no byte, and an encoder sets them to zero.
            isWrong = group & (1 << UInt32(held) - 1) != 0
        }
        return isWrong ? nil : bytes
    }

    private static let standardCharacters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    private static let urlCharacters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    private static let standardDigits = Array(standardCharacters.utf8)
    private static let urlDigits = Array(urlCharacters.utf8)
    private static let standard = table(standardCharacters)
    private static let url = table(urlCharacters)

    private static func table(_ characters: String) -> [UInt8] {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, character) in characters.utf8.enumerated() {
            table[Int(character)] = UInt8(value)
        }
        return table
    }
}

/// Base64 with one form for each value: what no encoder writes is refused.
///
/// Foundation's decoder takes characters whose last bits are not zero, so that several texts stand
/// for the same bytes; a receipt of which one character was changed would still be that receipt.
package enum StrictBase64 {
    /// Which 64 characters, and whether the end is padded.
    package enum Alphabet: Sendable {
        /// RFC 4648, section 4, padded: certificates in a JWS, receipts in `verifyReceipt`.
        case standard
        /// RFC 4648, section 5, not padded: the parts of a JWS.
        case url
    }

    /// Decodes a text.
    ///
    /// - Returns: The bytes, or `nil` if the text is not what an encoder writes.
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
        let characters = Array((alphabet == .standard ? standardCharacters : urlCharacters).utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if count > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if count > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0...count {
                text.append(characters[Int(group >> (18 - 6 * UInt32(position))) & 0x3F])
            }
            index += 3
        }
        if alphabet == .standard {
            while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        }
        return text
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
            // The bits that are left over belong to no byte, and an encoder leaves them zero.
            isWrong = group & (1 << UInt32(held) - 1) != 0
        }
        return isWrong ? nil : bytes
    }

    private static let standardCharacters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    private static let urlCharacters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
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

import Crypto
import EventTypes

/// The digest by which the store knows an offer code; the code itself is not kept.
///
/// The app is part of it, so a code of another app is as unknown as one that was never made.
struct CodeDigest: Hashable, Comparable, Sendable {
    /// The 64 hexadecimal digits of a SHA-256.
    let text: String

    /// Takes the digits that are in the books.
    init(text: String) { self.text = text }

    /// Digests a code as a person has typed it; `nil` if it cannot be a code.
    ///
    /// Spaces, hyphens and the case of letters do not matter.
    init?(typed: String, in bundle: BundleID) {
        guard let code = Self.normalized(typed) else { return nil }
        text = Self.hexadecimal(SHA256.hash(data: Array("\(bundle.rawValue)\n\(code)".utf8)))
    }

    /// The lengths of codes.
    static let lengths = 4...64

    /// A code without spaces and hyphens and in capitals; `nil` if it has other characters than letters
    /// and digits of ASCII.
    static func normalized(_ typed: String) -> String? {
        guard typed.utf8.count <= lengths.upperBound * 4 else { return nil }
        var code = ""
        for character in typed.unicodeScalars {
            switch character {
            case "A"..."Z", "0"..."9": code.unicodeScalars.append(character)
            case "a"..."z": code += String(character).uppercased()
            case "-", " ", "\t", "\r", "\n": continue
            default: return nil
            }
        }
        return lengths.contains(code.utf8.count) ? code : nil
    }

    /// The hexadecimal digits of bytes.
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    static func < (left: CodeDigest, right: CodeDigest) -> Bool { left.text < right.text }
}

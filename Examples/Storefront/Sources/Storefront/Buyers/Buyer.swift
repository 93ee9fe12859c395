import Crypto
import Foundation

/// A buyer of this shop, and the account that the store knows them by.
///
/// A real shop knows its customers by its own numbers. This one only asks for a name, which may be
/// in any script; the store's account ids are visible ASCII characters.
struct Buyer: Sendable, Hashable {
    /// The longest name, in characters as people count them.
    static let nameLengthMax = 64

    /// The name, in Unicode's composed form.
    let name: String
    /// The account.
    let accountID: String

    /// Reads a name.
    ///
    /// - Throws: ``StorefrontProblem`` for a name that nobody could read or type again.
    init(name text: String) throws(StorefrontProblem) {
        // The same letters may be written with different scalars: both are one buyer.
        let name = text.precomposedStringWithCanonicalMapping
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !name.isEmpty else {
            throw .badRequest("name_missing", "Type a name.")
        }
        guard name.count <= Self.nameLengthMax, name.utf8.count <= 8 * Self.nameLengthMax else {
            throw .badRequest("name_too_long", "A name has at most \(Self.nameLengthMax) letters.")
        }
        guard name.unicodeScalars.allSatisfy(Self.isVisible) else {
            throw .badRequest("name_invisible", "The name has characters that cannot be seen.")
        }
        self.name = name
        let isPlain = name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        accountID = isPlain ? name : "buyer-" + Self.digest(of: name)
    }

    /// Whether a scalar shows, or joins two that show.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        // Persian needs the first, and emoji need the second.
        if scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }

    private static func digest(of name: String) -> String {
        SHA256.hash(data: Data(name.utf8)).prefix(16)
            .map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}

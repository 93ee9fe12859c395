import Crypto
import Foundation

/// Random texts that nobody can guess, and their digests.
enum RandomSecret {
    /// A new text of 128 random bits.
    static func make() -> String {
        SymmetricKey(size: .bits128).withUnsafeBytes { bytes in
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
        }
    }

    /// The digest that a table keeps in place of a text.
    static func digest(of secret: String) -> SHA256Digest {
        SHA256.hash(data: Data(secret.utf8))
    }

    /// Whether two texts are equal; the time it takes does not tell where they differ.
    static func areEqual(_ one: String, _ other: String) -> Bool {
        digest(of: one) == digest(of: other)
    }
}

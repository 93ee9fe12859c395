import Crypto

/// A SHA-256 digest of the contents of a log.
public struct LogDigest: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes.
    package let bytes: [UInt8]

    /// The number of bytes of a row's digest that its seal stores individually.
    ///
    /// They identify the changed row among those of a seal. The proof is the seal's own digest,
    /// which covers the whole digests of all its rows.
    static let markCount = 8

    /// Makes a digest from 32 bytes.
    ///
    /// - Returns: `nil` if there is another number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == SHA256.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads 64 hexadecimal digits, as ``description`` writes them.
    ///
    /// - Returns: `nil` if the text is anything else.
    public init?(_ text: some StringProtocol) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * SHA256.byteCount, text.utf8.count == digits.count else {
            return nil
        }
        bytes = stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(digits[index] << 4 | digits[index + 1])
        }
    }

    /// The digest of some bytes.
    init(of content: [UInt8]) {
        bytes = content.withUnsafeBytes { Array(SHA256.hash(data: $0)) }
    }

    /// The part of a row's digest that its seal stores individually.
    var mark: ArraySlice<UInt8> { bytes.prefix(Self.markCount) }

    /// 64 hexadecimal digits.
    public var description: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }
        .joined()
    }
}

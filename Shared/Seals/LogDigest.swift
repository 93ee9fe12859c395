import Crypto

/// A SHA-256 of what a log holds.
public struct LogDigest: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes.
    package let bytes: [UInt8]

    /// How many bytes of a row's digest its seal keeps by themselves.
    ///
    /// By them a row that was changed is found among those it was sealed with. What proves is the
    /// whole digest, which all are in.
    static let markCount = 8

    /// Takes the 32 bytes of a digest.
    ///
    /// - Returns: `nil` if they are not 32.
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

    /// What a seal keeps of a row's digest by itself.
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

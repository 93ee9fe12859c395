import Crypto
import EventTypes

/// A SHA-256 of what a log holds.
public struct LogDigest: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes.
    let bytes: [UInt8]

    /// How many bytes of a row's digest its seal keeps by themselves.
    ///
    /// By them a row that was changed is found among those it was sealed with. What proves is the
    /// whole digest, which all are in.
    static let markCount = 8

    /// Takes the 32 bytes of a digest.
    ///
    /// - Returns: `nil` if they are not 32.
    init?(bytes: some Collection<UInt8>) {
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

/// Writes values one after another so that no two lists of values give the same bytes: numbers in
/// network byte order, everything of a variable length behind its length.
public struct DigestWriter: Sendable {
    /// What was written.
    private(set) var bytes: [UInt8] = []

    /// Makes a writer that has written nothing.
    public init() {}

    /// Writes a number.
    public mutating func write(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes bytes, behind their count.
    public mutating func write(_ content: [UInt8]) {
        write(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    /// Writes a text, behind its length; a text that is not there is no empty one.
    public mutating func write(_ text: String?) {
        guard let text else { return write(UInt64.max) }
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a UUID.
    public mutating func write(_ id: SIMD16<UInt8>) {
        withUnsafeBytes(of: id) { bytes.append(contentsOf: $0) }
    }

    /// Begins again, in the same memory.
    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
    }
}

/// A month of UTC: what the outbox is partitioned by, and what a chain of seals is over.
public struct LogMonth: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Months since January of the year 0.
    private let number: Int64

    /// `2026-11`.
    public var description: String {
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return padded(number / 12, 4) + "-" + padded(number % 12 + 1, 2)
    }

    /// The month of a moment, in microseconds since 1970-01-01 00:00 UTC.
    public init(microsecondsSinceEpoch: Int64) {
        func floor(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
            let remainder = ((value % divisor) + divisor) % divisor
            return ((value - remainder) / divisor, remainder)
        }
        // The civil calendar with the year beginning in March, as in `Timestamp.description`.
        let (era, dayOfEra) = floor(
            floor(microsecondsSinceEpoch, 86_400_000_000).0 + 719_468,
            146_097
        )
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        number = (era * 400 + yearOfEra) * 12 + (5 * dayOfYear + 2) / 153 + 2
    }

    /// Reads `2026-11`.
    ///
    /// - Returns: `nil` if the text is anything else.
    public init?(_ text: some StringProtocol) {
        guard let time = Timestamp("\(text)-01T00:00:00Z"), text.utf8.count == 7 else { return nil }
        self.init(microsecondsSinceEpoch: time.millisecondsSinceEpoch * 1000)
    }

    /// The month so many months later.
    public func advanced(by months: Int) -> LogMonth {
        LogMonth(number: number + Int64(months))
    }

    private init(number: Int64) { self.number = number }

    /// By time.
    public static func < (left: LogMonth, right: LogMonth) -> Bool {
        left.number < right.number
    }
}

/// Writes values one after another, so that different lists of values always give different bytes.
///
/// Numbers are in network byte order, and every value of variable length follows its length.
public struct DigestWriter: Sendable {
    /// The written bytes.
    private(set) var bytes: [UInt8] = []

    /// Makes an empty writer.
    public init() {}

    /// Writes a number.
    public mutating func write(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes bytes after their count.
    public mutating func write(_ content: [UInt8]) {
        write(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    /// Writes a text after its length; `nil` differs from an empty text.
    public mutating func write(_ text: String?) {
        guard let text else { return write(UInt64.max) }
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a UUID.
    public mutating func write(_ id: SIMD16<UInt8>) {
        withUnsafeBytes(of: id) { bytes.append(contentsOf: $0) }
    }

    /// Removes everything that was written, but keeps the memory.
    package mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
    }
}

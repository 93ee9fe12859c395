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
    package mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
    }
}

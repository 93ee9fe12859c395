/// The headers of a consumed message, in one piece of memory.
///
/// A message has about ten, and most readers look at each of them once. With memory of its own for each
/// name and value, they would take most of the time in which a message is read.
public struct KafkaHeaders: Sendable, Hashable {
    /// The names and values by turns, each after its length in four bytes.
    private var bytes: [UInt8] = []

    /// Makes an empty list with room for a number of bytes.
    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Packs headers.
    init(_ headers: [KafkaHeader]) {
        for header in headers {
            var name = header.name
            name.withUTF8 { append(UnsafeRawBufferPointer($0)) }
            header.value.withUnsafeBytes { append($0) }
        }
    }

    /// Adds a name, or the value of the name before.
    mutating func append(_ part: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: UInt32(part.count)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: part)
    }

    /// Calls a body with each name and its value, which live only during the call.
    public func forEach(
        _ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Void
    ) {
        bytes.withUnsafeBufferPointer { bytes in
            var position = 0
            func next() -> UnsafeBufferPointer<UInt8> {
                let count = UnsafeRawBufferPointer(bytes)
                    .loadUnaligned(fromByteOffset: position, as: UInt32.self)
                let start = position + 4
                position = start + Int(count)
                return UnsafeBufferPointer(rebasing: bytes[start..<position])
            }
            while position < bytes.count {
                let name = next()
                body(name, next())
            }
        }
    }

    /// The headers, each with memory of its own.
    public var list: [KafkaHeader] {
        var list: [KafkaHeader] = []
        forEach { name, value in
            list.append(
                KafkaHeader(name: String(decoding: name, as: UTF8.self), value: Array(value))
            )
        }
        return list
    }
}

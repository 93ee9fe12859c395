import Foundation

/// Writes the whole text to a file descriptor; what cannot be written is dropped.
///
/// - Returns: How many bytes were not written; `errno` then says why.
@discardableResult
func writeAll(_ text: String, to descriptor: Int32) -> Int {
    var text = text
    return text.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
            let count = write(descriptor, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return rest.count
    }
}

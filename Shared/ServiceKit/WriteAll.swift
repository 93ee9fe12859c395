import Foundation

/// Writes the whole text to a file descriptor; anything that cannot be written is dropped.
///
/// - Returns: The number of bytes that were not written. If it is not 0, `errno` has the reason.
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

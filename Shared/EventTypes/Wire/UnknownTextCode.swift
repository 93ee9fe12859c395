/// A packed text that cannot be unpacked, because one of its codes stands for no text.
///
/// A newer version of the service has written it, or it is damaged.
package struct UnknownTextCode: Error, Hashable, CustomStringConvertible {
    /// The place of the code in the packed text.
    package let position: Int
    /// The code: one byte, or two.
    package let code: [UInt8]

    init(position: Int, bytes: [UInt8]) {
        self.position = position
        code = Array(bytes[position...].prefix(bytes[position] == TextPacking.longCode ? 2 : 1))
    }

    package var description: String {
        let code = code.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
        return """
            Packed text has the code \\x\(code) at byte \(position), which this version does not know. \
            A newer version has written it, or it is damaged.
            """
    }
}

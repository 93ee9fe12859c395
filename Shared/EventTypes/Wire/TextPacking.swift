/// Packs JSON for storage: a code of one or two bytes stands for each text of a fixed list.
///
/// Codes are control characters, which JSON without line breaks does not contain. Bytes that do
/// contain some are stored as they are, behind a mark. So any bytes can be packed, and the result
/// unpacks to the same bytes.
///
/// Stored rows depend on a list: texts may be added at its end, but none may be changed or removed.
/// The same JSON may have several packed forms, so compare JSON only after unpacking it.
package struct TextPacking: Sendable {
    /// The number of texts whose code is one byte, from 0x01.
    private static let shortCodes = 0x1D
    /// Begins a code of two bytes, the second of which is a printable character, from `0`.
    static let longCode: UInt8 = 0x1E
    /// Begins bytes that are stored as they are, because they contain control characters.
    private static let verbatim: UInt8 = 0x1F
    private static let firstPrintable = 0x30

    private let texts: [[UInt8]]
    /// For each byte, whether a text begins with it.
    private let isFirst: [Bool]
    /// The indices of the texts by their slot, the longest of a slot first.
    private let slots: [[Int]]

    /// Makes a packing.
    ///
    /// - Parameter texts: The texts: at least 3 bytes each, without control characters. The most
    ///   frequent ones come first, because the first 29 have the short codes.
    package init(_ texts: [StaticString]) {
        let texts = texts.map { text in text.withUTF8Buffer { Array($0) } }
        precondition(
            texts.allSatisfy { $0.count >= 3 && $0.allSatisfy { $0 >= 0x20 } },
            "A text is longer than its code and contains none."
        )
        precondition(
            texts.count <= Self.shortCodes + 0x7F - Self.firstPrintable,
            "Every text has a code."
        )
        self.texts = texts
        var isFirst = [Bool](repeating: false, count: 256)
        var slots = [[Int]](repeating: [], count: 256)
        for (index, text) in texts.enumerated() {
            isFirst[Int(text[0])] = true
            slots[Self.slot(text[1], text[2])].append(index)
        }
        self.isFirst = isFirst
        self.slots = slots.map { $0.sorted { texts[$0].count > texts[$1].count } }
    }

    /// The packed form of some bytes.
    package func packed(_ json: [UInt8]) -> [UInt8] {
        guard json.allSatisfy({ $0 >= 0x20 }) else { return [Self.verbatim] + json }
        var packed: [UInt8] = []
        packed.reserveCapacity(json.count / 2)
        json.withUnsafeBufferPointer { bytes in
            var position = 0
            while position < bytes.count {
                if let index = text(at: position, in: bytes) {
                    if index < Self.shortCodes {
                        packed.append(UInt8(index + 1))
                    } else {
                        packed.append(Self.longCode)
                        packed.append(UInt8(index - Self.shortCodes + Self.firstPrintable))
                    }
                    position += texts[index].count
                } else {
                    packed.append(bytes[position])
                    position += 1
                }
            }
        }
        return packed
    }

    /// The bytes whose packed form this is.
    ///
    /// - Throws: ``UnknownTextCode``.
    package func unpacked(_ packed: [UInt8]) throws(UnknownTextCode) -> [UInt8] {
        if packed.first == Self.verbatim { return Array(packed.dropFirst()) }
        var json: [UInt8] = []
        json.reserveCapacity(packed.count * 4)
        var position = 0
        while position < packed.count {
            let byte = packed[position]
            if byte >= 0x20 {
                json.append(byte)
                position += 1
                continue
            }
            let index: Int
            if byte == Self.longCode, position + 1 < packed.count {
                let second = Int(packed[position + 1]) - Self.firstPrintable
                index = second < 0 ? texts.count : Self.shortCodes + second
            } else {
                index = (1...Self.shortCodes).contains(Int(byte)) ? Int(byte) - 1 : texts.count
            }
            guard index < texts.count else {
                throw UnknownTextCode(position: position, bytes: packed)
            }
            json.append(contentsOf: texts[index])
            position += byte == Self.longCode ? 2 : 1
        }
        return json
    }

    /// The index of the longest text at a position, if there is one.
    private func text(at position: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard position + 2 < bytes.count, isFirst[Int(bytes[position])] else { return nil }
        return slots[Self.slot(bytes[position + 1], bytes[position + 2])].first { index in
            let text = texts[index]
            guard position + text.count <= bytes.count else { return false }
            for offset in text.indices where bytes[position + offset] != text[offset] {
                return false
            }
            return true
        }
    }

    /// The slot of texts with these second and third bytes.
    private static func slot(_ second: UInt8, _ third: UInt8) -> Int {
        Int(second &* 31 ^ third)
    }
}

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

    /// A text of the list.
    private struct Entry {
        /// Its place among the letters.
        let start: Int
        let count: Int
        /// The first byte of its code.
        let code: UInt8
        /// The second byte of its code; `nil` if the code has one byte.
        let second: UInt8?
    }

    // Every event is packed and unpacked several times, so the tables are flat: no array in an array.
    /// The letters of all texts, one text after another.
    private let letters: [UInt8]
    /// The texts, in the order of the list.
    private let entries: [Entry]
    /// For each byte, whether a text begins with it.
    private let isFirst: [Bool]
    /// The texts in the order of their slots, the longest of a slot first.
    private let bySlot: [Entry]
    /// The place of each slot's first text in `bySlot`, and its end.
    private let slotStarts: [Int]

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
        var letters: [UInt8] = []
        var entries: [Entry] = []
        var isFirst = [Bool](repeating: false, count: 256)
        var slots = [[Entry]](repeating: [], count: 256)
        for (index, text) in texts.enumerated() {
            let isShort = index < Self.shortCodes
            let entry = Entry(
                start: letters.count,
                count: text.count,
                code: isShort ? UInt8(index + 1) : Self.longCode,
                second: isShort ? nil : UInt8(index - Self.shortCodes + Self.firstPrintable)
            )
            letters += text
            entries.append(entry)
            isFirst[Int(text[0])] = true
            slots[Self.slot(text[1], text[2])].append(entry)
        }
        self.letters = letters
        self.entries = entries
        self.isFirst = isFirst
        bySlot = slots.flatMap { $0.sorted { $0.count > $1.count } }
        slotStarts = slots.reduce(into: [0]) { starts, slot in
            starts.append(starts[starts.count - 1] + slot.count)
        }
    }

    /// The packed form of some bytes.
    package func packed(_ json: [UInt8]) -> [UInt8] {
        var isPackable = true
        // A code is shorter than its text, so the packed form is never longer.
        let packed = [UInt8](unsafeUninitializedCapacity: json.count) { target, count in
            json.withUnsafeBufferPointer { bytes in
                var position = 0
                while position < bytes.count {
                    if let entry = text(at: position, in: bytes) {
                        target[count] = entry.code
                        count += 1
                        if let second = entry.second {
                            target[count] = second
                            count += 1
                        }
                        position += entry.count
                    } else {
                        let byte = bytes[position]
                        guard byte >= 0x20 else {
                            isPackable = false
                            return
                        }
                        target[count] = byte
                        count += 1
                        position += 1
                    }
                }
            }
        }
        return isPackable ? packed : [Self.verbatim] + json
    }

    /// The bytes whose packed form this is.
    ///
    /// - Throws: ``UnknownTextCode``.
    package func unpacked(_ packed: [UInt8]) throws(UnknownTextCode) -> [UInt8] {
        if packed.first == Self.verbatim { return Array(packed.dropFirst()) }
        var length = 0
        var position = 0
        while position < packed.count {
            guard packed[position] < 0x20 else {
                length += 1
                position += 1
                continue
            }
            guard let entry = entry(at: position, in: packed) else {
                throw UnknownTextCode(position: position, bytes: packed)
            }
            length += entry.count
            position += entry.second == nil ? 1 : 2
        }
        return [UInt8](unsafeUninitializedCapacity: length) { json, count in
            var position = 0
            while position < packed.count {
                guard packed[position] < 0x20, let entry = entry(at: position, in: packed) else {
                    json[count] = packed[position]
                    count += 1
                    position += 1
                    continue
                }
                for offset in 0..<entry.count {
                    json[count + offset] = letters[entry.start + offset]
                }
                count += entry.count
                position += entry.second == nil ? 1 : 2
            }
        }
    }

    /// The text whose code is at a position of a packed form; `nil` if no text has that code.
    private func entry(at position: Int, in packed: [UInt8]) -> Entry? {
        let byte = packed[position]
        if byte == Self.longCode {
            guard position + 1 < packed.count else { return nil }
            let number = Int(packed[position + 1]) - Self.firstPrintable
            guard number >= 0, Self.shortCodes + number < entries.count else { return nil }
            return entries[Self.shortCodes + number]
        }
        let number = Int(byte) - 1
        guard number >= 0, number < min(Self.shortCodes, entries.count) else { return nil }
        return entries[number]
    }

    /// The longest text at a position, if there is one.
    private func text(at position: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Entry? {
        guard position + 2 < bytes.count, isFirst[Int(bytes[position])] else { return nil }
        let slot = Self.slot(bytes[position + 1], bytes[position + 2])
        for index in slotStarts[slot]..<slotStarts[slot + 1] {
            let entry = bySlot[index]
            guard position + entry.count <= bytes.count else { continue }
            var offset = 0
            while offset < entry.count, bytes[position + offset] == letters[entry.start + offset] {
                offset += 1
            }
            if offset == entry.count { return entry }
        }
        return nil
    }

    /// The slot of texts with these second and third bytes.
    private static func slot(_ second: UInt8, _ third: UInt8) -> Int {
        Int(second &* 31 ^ third)
    }
}

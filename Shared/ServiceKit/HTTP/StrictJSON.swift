public import Foundation

/// Reads JSON that has only one meaning (RFC 8259, sections 4 and 8.1; RFC 7493).
///
/// Foundation's decoder takes the last of two members with one name, accepts any encoding of
/// Unicode, and rounds a number with many digits to the nearest whole number. Another reader of the
/// same bytes, such as a proxy or a merchant's own check, may see a different request.
public enum StrictJSON {
    /// A property that makes a text ambiguous or unfit for storage.
    enum Fault: Hashable, Sendable {
        case notUTF8
        case zero
        case duplicate(String)
        case inexact(String)

        /// A sentence about the fault, with little of the input.
        var description: String {
            switch self {
            case .notUTF8: "The body is not UTF-8."
            case .zero:
                "A text contains the character U+0000 (\\u0000), which is not allowed."
            case .duplicate(let name):
                "An object has two members of the name \"\(shortened(name, to: 40))\"."
            case .inexact(let number):
                "The number \(shortened(number, to: 40)) has more digits than can be represented."
            }
        }
    }

    /// Decodes JSON bytes.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - data: The document.
    /// - Returns: The value.
    /// - Throws: `DecodingError`: that of Foundation's decoder, and `dataCorrupted` without a path
    ///   if the bytes are not UTF-8, an object at any depth has two members of one name, a text
    ///   holds U+0000, or a number that is not whole would be read as a whole one.
    public static func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        if let fault = fault(in: data) {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: fault.description)
            )
        }
        return try JSONDecoder().decode(type, from: data)
    }

    /// Finds an ambiguity in a text.
    ///
    /// Text that is not JSON at all is left to the decoder.
    ///
    /// It needs one pass over the bytes, and compares names without hashing while an object has
    /// few.
    static func fault(in bytes: some Collection<UInt8>) -> Fault? {
        let found = bytes.withContiguousStorageIfAvailable { buffer -> Fault? in
            var isASCII = true
            for byte in buffer where byte == 0 || byte >= 0x80 {
                guard byte != 0 else { return .notUTF8 }
                isASCII = false
            }
            guard isASCII || String(validating: buffer, as: UTF8.self) != nil else {
                return .notUTF8
            }
            var scanner = Scanner(bytes: buffer)
            return scanner.fault()
        }
        return found ?? fault(in: Array(bytes))
    }
}

/// Scans the tokens of a text.
private struct Scanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    /// The names of all open objects, beginning with the outermost object.
    var names: [String] = []
    /// The objects and arrays that are open.
    var open: [Container] = []

    struct Container {
        /// The index of its first name; `nil` for an array.
        var firstName: Int?
        /// All its names, once there are many.
        var known: Set<String> = []
    }

    /// The number of names up to which they are compared one by one.
    static let fewNames = 16
    /// The largest depth that the decoder accepts.
    static let depthMax = 512

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func fault() -> StrictJSON.Fault? {
        var expectsName = false
        while position < bytes.count, open.count <= Self.depthMax {
            switch bytes[position] {
            case UInt8(ascii: "{"):
                open.append(Container(firstName: names.count))
                expectsName = true
                position += 1
            case UInt8(ascii: "["):
                open.append(Container(firstName: nil))
                expectsName = false
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let first = open.popLast()?.firstName {
                    names.removeSubrange(min(first, names.count)...)
                }
                expectsName = false
                position += 1
            case UInt8(ascii: ","):
                expectsName = open.last?.firstName != nil
                position += 1
            case UInt8(ascii: "\""):
                guard let text = string() else { return nil }
                if text.holdsZero { return .zero }
                if expectsName, let name = name(text), !isNew(name) { return .duplicate(name) }
                expectsName = false
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                if let number = inexactNumber() { return .inexact(number) }
            default:
                position += 1
            }
        }
        return nil
    }

    private struct Text {
        var range: Range<Int>
        var hasEscape = false
        var holdsZero = false
    }

    /// The text between two quotes; `nil` if there is no end.
    private mutating func string() -> Text? {
        position += 1
        let start = position
        var text = Text(range: start..<start)
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                text.range = start..<position
                position += 1
                return text
            case UInt8(ascii: "\\"):
                text.hasEscape = true
                let zero: StaticString = "u0000"
                let isZero = bytes[min(position + 1, bytes.count)...].starts(
                    with: UnsafeBufferPointer(start: zero.utf8Start, count: zero.utf8CodeUnitCount)
                )
                if isZero { text.holdsZero = true }
                // A backslash escapes the next character, even a backslash or a quote.
                position += 2
            default:
                position += 1
            }
        }
        return nil
    }

    /// A member's name; `nil` if it has invalid escapes, which the decoder reports.
    private func name(_ text: Text) -> String? {
        guard text.hasEscape else {
            return String(decoding: bytes[text.range], as: UTF8.self)
        }
        let quoted = Data([UInt8(ascii: "\"")] + bytes[text.range] + [UInt8(ascii: "\"")])
        return try? JSONDecoder().decode(String.self, from: quoted)
    }

    private mutating func isNew(_ name: String) -> Bool {
        guard let last = open.indices.last, let first = open[last].firstName else { return true }
        let count = names.count - first
        if count < Self.fewNames {
            guard !names[first...].contains(name) else { return false }
        } else {
            if open[last].known.isEmpty { open[last].known = Set(names[first...]) }
            guard open[last].known.insert(name).inserted else { return false }
        }
        names.append(name)
        return true
    }

    /// The number, if it is not whole but its nearest representable value is: `1e-400` is not 0.
    private mutating func inexactNumber() -> String? {
        let start = position
        var isPlain = true
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"):
                isPlain = false
            default: return isPlain ? nil : inexact(start..<position)
            }
            position += 1
        }
        return isPlain ? nil : inexact(start..<position)
    }

    private func inexact(_ range: Range<Int>) -> String? {
        let text = String(decoding: bytes[range], as: UTF8.self)
        guard let value = Double(text), value.rounded(.towardZero) == value, !isWhole(text) else {
            return nil
        }
        return text
    }

    private func isWhole(_ text: String) -> Bool {
        let parts = text.split(
            maxSplits: 1,
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == "e" || $0 == "E" }
        )
        let sides = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let digits = sides.joined().utf8.filter { $0 != UInt8(ascii: "-") }
        guard let last = digits.lastIndex(where: { $0 != UInt8(ascii: "0") }) else { return true }
        let decimals = sides.count > 1 ? sides[1].utf8.count : 0
        // The place of the last nonzero digit, counted from the decimal point.
        let place = digits.count - 1 - last - decimals
        let exponent = parts.count > 1 ? parts[1] : "0"
        guard let power = Int(exponent) else { return !exponent.hasPrefix("-") }
        return place.addingReportingOverflow(power).partialValue >= 0
    }
}

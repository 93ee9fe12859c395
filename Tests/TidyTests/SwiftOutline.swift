/// The names that a Swift file declares and those that it uses, read without a compiler.
///
/// Comments and the text of strings are passed over; what strings interpolate is read. A name after
/// a dot is a member and no name of its own.
struct SwiftOutline: Sendable {
    /// A declaration that stands in no other.
    struct Declaration: Sendable, Hashable {
        /// Such as `struct`, `func` or `typealias`.
        let kind: String
        let name: String
        /// Whether only this file sees it.
        let isPrivate: Bool

        /// Whether it is a type of its own, and not another name for one.
        var isType: Bool { SwiftOutline.typeKinds.contains(kind) }
    }

    /// The declarations, in their order.
    let declarations: [Declaration]
    /// The types that are extended; of `A.B` both names.
    let extended: Set<String>
    /// The types that stand directly in an extension.
    let nested: Set<String>
    /// The names that are used and not declared here, at any depth.
    let used: Set<String>
    /// Whether every bracket that is opened is closed.
    let isWhole: Bool

    private static let typeKinds: Set = ["struct", "class", "enum", "protocol", "actor"]
    private static let kinds = typeKinds.union(["typealias", "func", "let", "var"])
    private static let introducing = kinds.union(["case", "associatedtype", "for", "inout"])

    init(_ text: String) {
        let (words, depth) = SwiftScanner.read(text)
        isWhole = depth == 0

        var declarations: [Declaration] = []
        var extended: Set<String> = []
        var nested: Set<String> = []
        var isInExtension = false
        var introduced: Set<String> = []
        var isPrivate = false
        var used: Set<String> = []
        for index in words.indices {
            let word = words[index]
            let next = index + 1 < words.count ? words[index + 1] : nil
            if word.isLabel { introduced.insert(word.text) }
            guard !word.isMember else { continue }
            used.insert(word.text)
            if let next, !next.isMember, Self.introducing.contains(word.text) {
                introduced.insert(next.text)
            }
            if word.depth == 1, isInExtension, Self.typeKinds.contains(word.text), let next,
                !Self.kinds.contains(next.text)
            {
                nested.insert(next.text)
            }
            guard word.depth == 0 else { continue }
            switch word.text {
            case "private", "fileprivate":
                isPrivate = true
            case "import":
                isPrivate = false
            case "extension":
                isInExtension = true
                var place = index + 1
                repeat {
                    if place < words.count { extended.insert(words[place].text) }
                    place += 1
                } while place < words.count && words[place].isMember
                isPrivate = false
            case let kind where Self.kinds.contains(kind):
                // `class` may also be a word before `func`.
                guard let next, !Self.kinds.contains(next.text) else { continue }
                isInExtension = false
                declarations.append(
                    Declaration(kind: kind, name: next.text, isPrivate: isPrivate)
                )
                isPrivate = false
            default:
                break
            }
        }
        self.declarations = declarations
        self.extended = extended
        self.nested = nested
        self.used = used.subtracting(introduced)
    }
}

/// Reads the words of a Swift file.
///
/// It goes through millions of bytes in a debug build, hence the pointer and the table.
private struct SwiftScanner {
    struct Word {
        let text: String
        /// The number of open brackets.
        let depth: Int
        /// Whether it stands after a dot, an `@` or a `#`.
        let isMember: Bool
        /// Whether a colon follows at once, as after a label or a parameter.
        let isLabel: Bool
    }

    /// The kind of text that a byte begins.
    private enum Class: UInt8 {
        case other, word, slash, quote, hash, opening, closing, parenthesis, closingParenthesis

        static let table: [Class] = (UInt8.min...(.max)).map { byte in
            switch Unicode.Scalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "\u{80}"..."\u{FF}": .word
            case "/": .slash
            case "\"": .quote
            case "#": .hash
            case "{", "[": .opening
            case "}", "]": .closing
            case "(": .parenthesis
            case ")": .closingParenthesis
            default: .other
            }
        }
    }

    private static let newline = UInt8(ascii: "\n")
    private static let backslash = UInt8(ascii: "\\")
    private static let quote = UInt8(ascii: "\"")
    private static let memberSigns: [UInt8] = [".", "@", "#"].map { UInt8(ascii: $0) }
    private static let regexSigns: [UInt8] = ["(", ",", "=", ":", "{", "["].map {
        UInt8(ascii: $0)
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private let classes: UnsafeBufferPointer<Class>
    private var place = 0
    private var depth = 0
    private var words: [Word] = []
    /// The last byte of code that is no space.
    private var last: UInt8 = 0

    /// Reads a text.
    ///
    /// - Returns: Its words, and how many brackets stay open.
    static func read(_ text: String) -> (words: [Word], depth: Int) {
        var text = text
        return text.withUTF8 { bytes in
            Class.table.withUnsafeBufferPointer { classes in
                var scanner = SwiftScanner(bytes: bytes, classes: classes)
                scanner.scan(untilParenthesis: false)
                return (scanner.words, scanner.depth)
            }
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>, classes: UnsafeBufferPointer<Class>) {
        self.bytes = bytes
        self.classes = classes
    }

    /// Reads code to the end of the file, or behind the parenthesis that closes an interpolation.
    private mutating func scan(untilParenthesis: Bool) {
        var parentheses = 0
        let end = bytes.count
        while place < end {
            let byte = bytes[place]
            switch classes[Int(byte)] {
            case .word:
                readWord()
                continue
            case .other:
                break
            case .slash:
                if follows("/") {
                    skipLine()
                    continue
                }
                if follows("*") {
                    skipComment()
                    continue
                }
                if beginsRegex {
                    skipRegex()
                    continue
                }
            case .quote:
                readString(hashes: 0)
                continue
            case .hash:
                let hashes = count(of: byte)
                if place + hashes < end, bytes[place + hashes] == Self.quote {
                    place += hashes
                    readString(hashes: hashes)
                    continue
                }
            case .opening:
                depth += 1
            case .closing:
                depth -= 1
            case .parenthesis:
                parentheses += 1
                depth += 1
            case .closingParenthesis:
                if untilParenthesis, parentheses == 0 {
                    place += 1
                    return
                }
                parentheses -= 1
                depth -= 1
            }
            if byte > 0x20 { last = byte }
            place += 1
        }
    }

    private func follows(_ next: Unicode.Scalar) -> Bool {
        place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: next)
    }

    /// Counts a byte.
    private func count(of byte: UInt8) -> Int {
        var end = place
        while end < bytes.count, bytes[end] == byte { end += 1 }
        return end - place
    }

    private mutating func skipLine() {
        let end = bytes.count
        while place < end, bytes[place] != 0x0A { place += 1 }
    }

    private mutating func readWord() {
        let start = place
        let end = bytes.count
        var next = start
        while next < end, classes[Int(bytes[next])] == .word { next += 1 }
        place = next
        let isMember = Self.memberSigns.contains(last)
        last = bytes[next - 1]
        // A digit begins a number.
        guard !(0x30...0x39).contains(bytes[start]) else { return }
        words.append(
            Word(
                text: String(decoding: bytes[start..<next], as: UTF8.self),
                depth: depth,
                isMember: isMember,
                isLabel: next < end && bytes[next] == 0x3A
            )
        )
    }

    private mutating func skipComment() {
        var open = 0
        repeat {
            if bytes[place] == UInt8(ascii: "/"), follows("*") {
                open += 1
                place += 2
            } else if bytes[place] == UInt8(ascii: "*"), follows("/") {
                open -= 1
                place += 2
            } else {
                place += 1
            }
        } while open > 0 && place < bytes.count
    }

    /// Whether a slash begins a regular expression and divides nothing.
    private var beginsRegex: Bool {
        Self.regexSigns.contains(last) && !follows(" ") && !follows("=")
    }

    private mutating func skipRegex() {
        place += 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "/"), bytes[place] != Self.newline {
            place += bytes[place] == Self.backslash ? 2 : 1
        }
        place += 1
        last = UInt8(ascii: "/")
    }

    /// Passes over a string and reads what it interpolates.
    private mutating func readString(hashes: Int) {
        let quotes = count(of: Self.quote)
        if quotes == 2, hasHashes(hashes, from: place + 2) {
            // The empty string.
            place += 2 + hashes
            last = Self.quote
            return
        }
        let length = quotes >= 3 ? 3 : 1
        place += length
        while place < bytes.count {
            let byte = bytes[place]
            if byte == Self.backslash, hasHashes(hashes, from: place + 1) {
                place += 1 + hashes
                let isInterpolation = place < bytes.count && bytes[place] == UInt8(ascii: "(")
                place += 1
                if isInterpolation {
                    last = UInt8(ascii: "(")
                    scan(untilParenthesis: true)
                }
            } else if byte == Self.quote, count(of: byte) >= length,
                hasHashes(hashes, from: place + length)
            {
                place += length + hashes
                break
            } else {
                place += 1
            }
        }
        last = Self.quote
    }

    private func hasHashes(_ count: Int, from start: Int) -> Bool {
        if count == 0 { return true }
        return start + count <= bytes.count
            && bytes[start..<start + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }
}

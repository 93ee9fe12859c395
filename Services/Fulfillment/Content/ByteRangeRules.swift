import EventTypes

/// The rules for the byte range of a content that a request gets (RFC 9110, sections 13.1.5 and
/// 14).
///
/// Pure.
enum ByteRangeRules {
    /// The answer to a request.
    enum Answer: Hashable, Sendable {
        /// All bytes: 200.
        case whole
        /// The bytes from one offset up to another: 206.
        case part(Range<Int64>)
        /// None of the requested bytes exist: 416.
        case unsatisfiable
    }

    /// Decides from the headers of a request.
    ///
    /// A header that is not a single range of bytes is ignored. The range is also ignored if the
    /// client's earlier bytes belong to another content.
    ///
    /// - Parameters:
    ///   - range: The header `Range`.
    ///   - ifRange: The header `If-Range`. A date or a weak tag never matches.
    ///   - entityTag: The content's entity tag.
    ///   - length: The content's length.
    /// - Returns: The part of the content that the request gets.
    static func answer(
        range: String?,
        ifRange: String?,
        entityTag: String,
        length: Int64
    ) -> Answer {
        guard let range, ifRange == nil || ifRange == entityTag else { return .whole }
        let parts = range.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return .whole }
        let ends = trimmed(parts[1]).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .whole }
        switch (position(trimmed(ends[0])), position(trimmed(ends[1]))) {
        case (.number(let first), .number(let last)):
            guard first <= last else { return .whole }
            return first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        case (.number(let first), .none):
            return first < length ? .part(first..<length) : .unsatisfiable
        case (.none, .number(let count)):
            guard count > 0, length > 0 else { return .unsatisfiable }
            return .part(max(0, length - count)..<length)
        case (.none, .none), (.wrong, _), (_, .wrong):
            return .whole
        }
    }

    /// Returns the strong entity tag of a content.
    ///
    /// Equal bytes have equal tags.
    static func entityTag(of digest: ContentDigest) -> String { "\"\(digest)\"" }

    private enum Position {
        case none
        case number(Int64)
        case wrong
    }

    /// Parses a position.
    ///
    /// A number that overflows counts as the largest.
    private static func position(_ text: Substring) -> Position {
        if text.isEmpty { return .none }
        guard text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            return .wrong
        }
        return .number(Int64(text) ?? .max - 1)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        let start = text.drop(while: isSpace)
        return start.prefix(start.count - start.reversed().prefix(while: isSpace).count)
    }
}

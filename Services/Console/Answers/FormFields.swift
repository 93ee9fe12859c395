import Foundation

/// The fields of a form, as browsers send them.
///
/// Pure.
struct FormFields: Hashable, Sendable {
    private var values: [String: String] = [:]

    /// Reads a body of the type `application/x-www-form-urlencoded`.
    ///
    /// - Returns: `nil` if the body is not of that form, or names a field twice.
    init?(_ body: String) {
        for pair in body.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0]),
                let value = Self.decoded(sides.count > 1 ? sides[1] : ""),
                values.updateValue(value, forKey: name) == nil
            else { return nil }
        }
    }

    /// The value of a field, without spaces around it; `nil` if it was not sent.
    subscript(name: String) -> String? {
        values[name]?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The values of all fields whose names begin with a text, by the rest of their names.
    func values(after prefix: String) -> [String: String] {
        var found: [String: String] = [:]
        for name in values.keys where name.hasPrefix(prefix) {
            found[String(name.dropFirst(prefix.count))] = self[name]
        }
        return found
    }

    /// The text of a name or a value, with the ends of lines that the store has.
    ///
    /// Browsers end each line of a form with two characters.
    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding?
            .replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    }
}

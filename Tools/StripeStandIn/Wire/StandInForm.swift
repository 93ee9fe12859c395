import Foundation

/// The parameters of a request, read as Stripe's API reads them.
struct StandInForm: Hashable, Sendable {
    /// The values by their names, brackets included.
    private(set) var values: [String: String] = [:]

    init(_ encoded: String) {
        for pair in encoded.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.unescaped(parts[0])
            guard !name.isEmpty else { continue }
            values[name] = parts.count == 2 ? Self.unescaped(parts[1]) : ""
        }
    }

    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether the value is `true`.
    func flag(_ name: String) -> Bool { values[name] == "true" }

    /// Removes a parameter, and returns its value.
    mutating func take(_ name: String) -> String? {
        defer { values[name] = nil }
        return self[name]
    }

    /// A whole number.
    ///
    /// - Throws: ``StandInError`` if the value is none.
    func number(_ name: String) throws(StandInError) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let number = Int64(text) else {
            throw .invalid("Invalid integer: \(text)", code: "parameter_invalid_integer", name)
        }
        return number
    }

    /// The value of a parameter that must be there.
    ///
    /// - Throws: ``StandInError``
    func required(_ name: String) throws(StandInError) -> String {
        guard let value = self[name] else {
            throw .invalid("Missing required param: \(name).", code: "parameter_missing", name)
        }
        return value
    }

    /// The value of a parameter that has only a few.
    ///
    /// - Throws: ``StandInError`` if it is none of them.
    func choice(_ name: String, of known: Set<String>) throws(StandInError) -> String? {
        guard let value = self[name] else { return nil }
        guard known.contains(value) else {
            throw .invalid("Invalid \(name): \(value)", code: "parameter_invalid", name)
        }
        return value
    }

    /// The members of a value: `metadata[attempt]=1` has the member `attempt`.
    func members(_ name: String) -> [String: String] {
        var members: [String: String] = [:]
        for (key, value) in values where key.hasPrefix(name + "[") && key.hasSuffix("]") {
            members[String(key.dropFirst(name.count + 1).dropLast())] = value
        }
        return members
    }

    /// Whether an object is to be shown as a whole instead of its id.
    func expands(_ name: String) -> Bool {
        members("expand").values.contains { $0 == name || $0 == "data." + name }
    }

    /// Refuses a parameter that the call does not have, as Stripe does.
    ///
    /// - Throws: ``StandInError``
    func check(_ known: Set<String>) throws(StandInError) {
        for name in values.keys.sorted() {
            let head = String(name.prefix { $0 != "[" })
            if head == "payment_method_types" {
                throw .invalid(
                    "The API has no \(head) any more; use allowed_\(head).",
                    code: "payment_method_types_no_longer_supported",
                    head
                )
            }
            guard known.contains(head) || head == "expand" else {
                throw .invalid(
                    "Received unknown parameter: \(name)",
                    code: "parameter_unknown",
                    name
                )
            }
        }
    }

    private static func unescaped(_ text: Substring) -> String {
        text.replacing("+", with: " ").removingPercentEncoding ?? String(text)
    }
}

import ServiceKit

/// A problem of a product or of a subscription group that an administrator sent.
struct ProductProblem: Hashable, Sendable, CustomStringConvertible {
    /// The product's id as it was sent, or `group` and a group's id; empty if the document itself
    /// is wrong.
    var productID: String
    /// The field, as a path: `prices.USA.minorUnits`.
    var field: String
    /// The problem, as the rest of a sentence that begins with the field.
    var problem: String

    var description: String {
        let location = [Self.shortened(productID), field].filter { !$0.isEmpty }
            .joined(separator: ": ")
        return location.isEmpty ? problem : "\(location) \(problem)"
    }

    /// Cuts text from outside to a length that suits a message.
    static func shortened(_ text: String) -> String { ServiceKit.shortened(text, to: 80) }

    /// Lists problems, one a line, up to a maximum number.
    static func report(_ problems: [ProductProblem], lineCountMax: Int = 100) -> String {
        var lines = problems.prefix(lineCountMax).map { $0.description + "." }
        let rest = problems.count - lines.count
        if rest > 0 { lines.append("And \(rest) more problem\(rest == 1 ? "" : "s").") }
        return lines.joined(separator: "\n")
    }
}

import EventTypes
import Foundation
import ServiceKit

/// The parameters of a request's query, in their original order.
///
/// A name may occur several times.
///
/// Pure. The format is `application/x-www-form-urlencoded`: percent-encoded, with `+` for a space.
struct QueryParameters: Hashable, Sendable {
    private let pairs: [(name: String, value: String)]

    /// Parses the part of a URL after its question mark.
    init(_ query: String?) {
        pairs = (query ?? "").split(separator: "&").map { part in
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(sides[0]), sides.count > 1 ? Self.decoded(sides[1]) : "")
        }
    }

    /// Returns all values of a parameter.
    func all(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }

    /// Returns the value of a parameter that may occur only once.
    ///
    /// - Throws: The given error if it occurs more than once.
    func single(
        _ name: String,
        else error: ServerAPIError
    ) throws(ServerAPIError) -> String? {
        let values = all(name)
        guard values.count <= 1 else { throw error }
        return values.first
    }

    /// Returns a time, in milliseconds since 1970.
    func milliseconds(
        _ name: String,
        else error: ServerAPIError
    ) throws(ServerAPIError) -> StoreTime? {
        guard let value = try single(name, else: error) else { return nil }
        // Beyond the year 9999 PostgreSQL and calendars differ.
        guard let number = Int64(value), (0...253_402_300_799_999).contains(number) else {
            throw error
        }
        return StoreTime(millisecondsSinceEpoch: number)
    }

    /// Returns a Boolean in any case, because Apple's Python client writes `True`.
    func bool(_ name: String, else error: ServerAPIError) throws(ServerAPIError) -> Bool? {
        switch try single(name, else: error)?.lowercased() {
        case nil: return nil
        case "true": return true
        case "false": return false
        default: throw error
        }
    }

    /// Whether both have the same parameters in the same order.
    static func == (left: QueryParameters, right: QueryParameters) -> Bool {
        left.pairs.elementsEqual(right.pairs) { $0 == $1 }
    }

    /// Feeds the parameters into a hasher.
    func hash(into hasher: inout Hasher) {
        for pair in pairs {
            hasher.combine(pair.name)
            hasher.combine(pair.value)
        }
    }

    private static func decoded(_ text: Substring) -> String {
        let spaced = String(text.replacing("+", with: " "))
        // Malformed percent-encoding is kept as it is, and is then not a valid value.
        return spaced.removingPercentEncoding ?? spaced
    }
}

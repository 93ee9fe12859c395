/// JSON of a newer program, with a member that this one does not know.
public enum NewerJSON {
    /// The member, with a bracket in a string, which is no end.
    public static let member = #""zeal":{"a":["}\""]}"#

    /// Adds the member to the transaction in an event's data.
    public static func adding(to data: [UInt8]) -> [UInt8] {
        let text = String(decoding: data, as: UTF8.self)
        return Array(text.replacing("\"version\":", with: "\(member),\"version\":").utf8)
    }
}

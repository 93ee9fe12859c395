/// The name of any member of a JSON object, where the names are not known beforehand.
public struct MemberName: CodingKey {
    /// The name.
    public let stringValue: String
    /// `nil`, because members have no numbers.
    public var intValue: Int? { nil }

    /// Makes a name.
    public init(stringValue: String) { self.stringValue = stringValue }
    /// Makes nothing, because members have no numbers.
    public init?(intValue: Int) { nil }
}

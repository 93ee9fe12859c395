/// A request to move the end of a subscription's newest period.
public struct RequestedExtension: Hashable, Sendable {
    /// The most days by which one request extends (rule S214).
    public static let daysMax = 90
    /// The most extensions of a subscription in a year (rule S211).
    public static let countMax = 2
    /// The time in which they are counted.
    static let countedTime = Duration.days(365)

    /// The identifier of the request, which extends a subscription once (rule S213).
    public var id: String
    /// The number of days, from 1 to ``daysMax``.
    public var days: Int
    /// Apple's code of the reason.
    public var reasonCode: Int

    /// Makes a request.
    public init(id: String, days: Int, reasonCode: Int) {
        self.id = id
        self.days = days
        self.reasonCode = reasonCode
    }
}

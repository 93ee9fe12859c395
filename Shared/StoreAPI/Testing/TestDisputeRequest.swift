/// A request to have a buyer's bank dispute a purchase, in a test.
public struct TestDisputeRequest: Codable, Hashable, Sendable {
    /// The steps of a dispute.
    public enum Step: String, Codable, CaseIterable, Sendable {
        /// The bank asks about the purchase, and moves no money.
        case inquire
        /// The bank takes the money.
        case open
        /// The store wins, and has the money again.
        case win
        /// The store loses.
        case lose
    }

    /// The step that the dispute takes now.
    public var step: Step

    /// Makes a request.
    public init(step: Step) { self.step = step }
}

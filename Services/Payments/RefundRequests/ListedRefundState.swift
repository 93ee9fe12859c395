/// The states by which requests for refunds are listed.
enum ListedRefundState: String, CaseIterable, Sendable {
    case open, approved, declined
    /// Approved, and the processor could not make the refund, or it has failed later.
    case failed
}

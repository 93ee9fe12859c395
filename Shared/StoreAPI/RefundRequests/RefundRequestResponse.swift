public import EventTypes

/// A buyer's request for a refund, as an administrator sees it.
public struct RefundRequestResponse: Codable, Hashable, Sendable {
    /// The state of the refund that an approval asked for.
    public enum RefundState: String, Codable, Hashable, Sendable {
        /// The processor has not confirmed it.
        case pending
        /// The buyer has the money.
        case made
        /// The processor could not make it, and no money moved. The request can be approved again.
        case failed
    }

    /// The request.
    public var request: RequestedRefund
    /// Who decided, and why; `nil` while the request is open.
    public var act: Act?
    /// The state of its refund; `nil` if it has none.
    public var refundState: RefundState?
    /// The purchase as it is now.
    public var transaction: Transaction

    /// Makes an answer.
    public init(
        request: RequestedRefund,
        act: Act?,
        refundState: RefundState?,
        transaction: Transaction
    ) {
        self.request = request
        self.act = act
        self.refundState = refundState
        self.transaction = transaction
    }
}

/// A page of buyers' requests for refunds, the oldest first.
public struct RefundRequestsResponse: Codable, Hashable, Sendable {
    /// The requests.
    public var requests: [RequestedRefund]
    /// The end of the page, to send as `after` for the next one; `nil` on the last page.
    public var next: String?
    /// Makes a page.
    public init(requests: [RequestedRefund], next: String? = nil) {
        self.requests = requests
        self.next = next
    }
}

/// The answer to a buyer's request for a refund.
public struct BuyerRefundResponse: Codable, Hashable, Sendable {
    /// The request.
    public var request: RequestedRefund
    /// Makes an answer.
    public init(request: RequestedRefund) { self.request = request }
}

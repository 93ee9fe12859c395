/// `refund-request.changed.v1`: a buyer asked for a refund, or somebody decided about the request.
public struct RefundRequestChanged: Event, Hashable {
    /// The whole request.
    public var request: RequestedRefund
    /// The act that decided it; `nil` while it is open.
    public var act: Act?
    /// Makes the event.
    public init(request: RequestedRefund, act: Act? = nil) {
        self.request = request
        self.act = act
    }
}

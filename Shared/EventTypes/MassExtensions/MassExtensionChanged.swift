/// `mass-extension.changed.v1`: a request to extend all subscribers of a product was accepted, has
/// failed for one of them, or is complete.
///
/// A subscriber whose subscription is extended has `subscription.changed.v1`.
public struct MassExtensionChanged: Event, Hashable {
    /// The whole request.
    ///
    /// In an event of a failure, the counts are those of the page before.
    public var request: MassExtension
    /// The subscription that could not be extended; `nil` if the event is about the whole request.
    public var failed: Subscription?
    /// The time of the change.
    public var changedAt: StoreTime
    /// The act of the administrator who asked; `nil` if a merchant's server did.
    public var act: Act?

    /// Makes the event.
    public init(
        request: MassExtension,
        failed: Subscription? = nil,
        changedAt: StoreTime,
        act: Act? = nil
    ) {
        self.request = request
        self.failed = failed
        self.changedAt = changedAt
        self.act = act
    }
}

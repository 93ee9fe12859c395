/// The reason why an event does not apply to a subscription.
///
/// Nothing has changed.
public enum SubscriptionRefusal: Hashable, Sendable {
    /// The account has no subscription in the group.
    case notSubscribed
    /// The subscription has ended; only a purchase begins it again.
    case ended
    /// The product belongs to another group (rule S10).
    case otherGroup
    /// The product runs already.
    case isCurrent
    /// The product needs a charge now; it cannot be scheduled (rule S101).
    case needsCharge
    /// There is nothing to pay: the period is paid.
    case nothingOwed
    /// Auto-renew is off, so no period follows.
    case notRenewing
    /// The next period is paid already.
    case paidInAdvance
    /// The customer was not asked about a price.
    case notAsked
    /// A later question has replaced the one that is answered (rule S123).
    case questionReplaced
    /// The customer has given the other answer.
    case answeredOtherwise
    /// The price does not rise for this subscription.
    case noIncrease
    /// The higher price of an increase is being charged, or is owed (rule S126).
    case priceInUse
    /// The subscription cannot be extended: it is not active, or its period is free.
    case notExtendable
    /// The subscription was extended as often as it may be in a year.
    case tooManyExtensions
    /// The request has the identifier of another one.
    case extensionDiffers
    /// The state is one that only a newer version of the store knows.
    case stateUnknown
}

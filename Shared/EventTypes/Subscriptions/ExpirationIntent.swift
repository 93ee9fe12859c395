/// The reason why a subscription ended or is about to, as the App Store numbers it (rule S93).
public enum ExpirationIntent: Int, Codable, Hashable, Sendable {
    /// The customer turned auto-renew off.
    case autoRenewDisabled = 1
    /// The store could not charge the customer.
    case billingError = 2
    /// The customer did not agree to a higher price.
    case didNotConsentToPriceIncrease = 3
    /// The product could not be renewed.
    case productUnavailable = 4
    /// Another reason.
    case unknown = 5
}

public import EventTypes

/// An app's request for the page on which its account redeems codes.
///
/// Body of `POST /v1/redemption-tickets`. It says how to charge what a code does not make free.
public struct RedemptionTicketRequest: Codable, Hashable, Sendable {
    /// The storefront in which the account buys.
    public var storefront: Storefront
    /// The payment method.
    public var paymentMethod: PaymentMethod
    /// The app's own name of the user, for the transactions.
    public var applicationUsername: String?

    /// Makes a request.
    public init(
        storefront: Storefront,
        paymentMethod: PaymentMethod,
        applicationUsername: String? = nil
    ) {
        self.storefront = storefront
        self.paymentMethod = paymentMethod
        self.applicationUsername = applicationUsername
    }
}

/// The page on which an account redeems codes.
public struct RedemptionTicketResponse: Codable, Hashable, Sendable {
    /// The page's path at `payments`, with the ticket that signs the account in.
    public var path: String
    /// The milliseconds for which the ticket is good.
    public var endsIn: Int64

    /// Makes a response.
    public init(path: String, endsIn: Int64) {
        self.path = path
        self.endsIn = endsIn
    }
}

import StoreAPI

/// The check that a payment names a method of its own account.
///
/// Pure. Without it a buyer could name the card of another one.
struct SavedMethods: Sendable {
    /// The methods of the accounts of a batch; `nil` if the processor has no saved methods.
    var byAccount: [AccountKey: Set<PaymentMethod>]?

    /// The reason why an account may not pay with a method; `nil` if it may.
    func refusal(of method: PaymentMethod, from account: AccountKey) -> PaymentRefusal? {
        guard let byAccount else { return nil }
        return byAccount[account]?.contains(method) == true ? nil : .paymentMethodUnknown
    }
}

import EventTypes

/// The merchant's accounts at Stripe.
///
/// An app says only where its buyers save cards. A card is charged at the account where it was saved,
/// whatever the app's account is by then.
struct StripeAccounts: Sendable {
    /// The account of the apps that have no other.
    let first: StripeAccount
    var others: [StripeAccount] = []
    /// The accounts of the apps that do not use the first one.
    var apps: [BundleID: ProcessorAccountName] = [:]

    /// All accounts, the first one in front.
    var all: [StripeAccount] { [first] + others }

    /// The account of a name; `nil` if the settings name none such any more.
    func named(_ name: ProcessorAccountName) -> StripeAccount? { all.first { $0.name == name } }

    /// The account at which the buyers of an app save cards.
    func of(_ app: BundleID) -> StripeAccount { apps[app].flatMap { named($0) } ?? first }
}

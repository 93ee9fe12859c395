/// A search for lost attempts that are not in the list of the buyer who has the card.
///
/// Pure.
struct StraySearch: Hashable, Sendable {
    let search: PeriodSearch
    /// The buyer in whose list an ordinary search looks; `nil` if that list is not looked through here.
    let own: String?

    /// Whether a payment's attempt is one of those that are looked for.
    func matches(_ id: AttemptID, of customer: String?) -> Bool {
        search.matches(id) && (own == nil || customer != own)
    }
}

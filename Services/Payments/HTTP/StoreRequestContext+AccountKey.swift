import ServiceKit

extension StoreRequestContext {
    /// The account and app that the request speaks for.
    func requireAccountKey() throws -> AccountKey {
        let account = try requireAccount()
        return AccountKey(accountID: account.accountID, bundleID: account.bundleID)
    }
}

import ServiceKit

extension StoreRequestContext {
    /// Returns the account and app of the request, which are required.
    func requireAccountKey() throws -> AccountKey {
        let account = try requireAccount()
        return AccountKey(accountID: account.accountID, bundleID: account.bundleID)
    }
}

import EventTypes
import Foundation
import Hummingbird
import ServiceKit

extension StoreRequestContext {
    /// Returns the account and app of the request, which are required.
    func requireAccountKey() throws -> AccountKey {
        let account = try requireAccount()
        return AccountKey(accountID: account.accountID, bundleID: account.bundleID)
    }

    /// Returns the account that an administrator's path names.
    ///
    /// - Throws: ``HTTPProblem`` if the path names none.
    func accountInPath() throws -> AccountID {
        guard
            let id = parameters.get("account")?.removingPercentEncoding.flatMap({
                AccountID(rawValue: $0)
            })
        else {
            throw HTTPProblem.badRequest(
                "account_id_malformed",
                "The account id is malformed",
                "The path names \(AccountID.form), percent-encoded."
            )
        }
        return id
    }
}

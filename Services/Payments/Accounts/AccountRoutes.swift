import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The HTTP routes for accounts.
///
/// Administrators reach any account; a buyer reaches only their own.
///
/// The routes contain no SQL and no rules.
struct AccountRoutes: Sendable {
    let accounts: AccountHandler

    func add(to router: StoreRouter) {
        router.account
            .get(RouterPath(Routes.account), use: ownAccount)
            .delete(RouterPath("\(Routes.purchaseIntents)/:id"), use: declineIntent)
        router.admin
            .get(RouterPath("\(Routes.adminAccounts)/:account"), use: anyAccount)
            .put(RouterPath("\(Routes.adminAccounts)/:account"), use: changeAccount)
            .post(
                RouterPath("\(Routes.adminAccounts)/:account/purchase-intents"),
                use: beginPurchase
            )
    }

    @Sendable
    private func ownAccount(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try jsonResponse(
            AccountResponse(account: try await accounts.account(try context.requireAccountKey()))
        )
    }

    @Sendable
    private func declineIntent(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try context.requireAccountKey()
        guard let id = context.parameters.get("id").flatMap({ PurchaseIntentID(rawValue: $0) })
        else { throw AccountRefusal.purchaseIntentUnknown.problem }
        return try answer(try await accounts.decline(id, by: key, trace: context.trace))
    }

    @Sendable
    private func anyAccount(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let accountID = try context.accountInPath()
        guard
            let bundleID = request.uri.queryParameters.get("bundleID").flatMap({
                BundleID(rawValue: $0)
            })
        else {
            throw HTTPProblem.queryInvalid("Name the app: bundleID=com.example.app.")
        }
        let key = AccountKey(accountID: accountID, bundleID: bundleID)
        return try jsonResponse(AccountResponse(account: try await accounts.account(key)))
    }

    @Sendable
    private func changeAccount(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try context.accountInPath()
        let body = try await decodeBody(AccountChangeRequest.self, from: request)
        let act = try context.act(because: nil)
        return try answer(try await accounts.change(id, body, by: act, trace: context.trace))
    }

    @Sendable
    private func beginPurchase(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try context.accountInPath()
        let key = try request.requireIdempotencyKey()
        let body = try await decodeBody(PurchaseIntentRequest.self, from: request)
        switch try await accounts.begin(
            body,
            for: id,
            idempotencyKey: key,
            trace: context.trace
        ) {
        case .failure(let refusal): throw refusal.problem
        case .success(let intent):
            return try jsonResponse(
                PurchaseIntentResponse(purchaseIntent: intent),
                status: .created
            )
        }
    }

    private func answer(_ result: Result<Account, AccountRefusal>) throws -> Response {
        switch result {
        case .failure(let refusal): throw refusal.problem
        case .success(let account): return try jsonResponse(AccountResponse(account: account))
        }
    }
}

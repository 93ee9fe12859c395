import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The HTTP routes for families.
///
/// Administrators make and change them; a buyer sees their own, and may leave it.
struct FamilyRoutes: Sendable {
    let families: FamilyHandler

    func add(to router: StoreRouter) {
        router.account
            .get(RouterPath(Routes.family), use: ownFamily)
            .post(RouterPath(Routes.familyLeave), use: leave)
        router.admin
            .get(RouterPath(Routes.adminFamilies), use: list)
            .post(RouterPath(Routes.adminFamilies), use: create)
            .get(RouterPath("\(Routes.adminFamilies)/:id"), use: show)
            .post(RouterPath("\(Routes.adminFamilies)/:id/end"), use: end)
            .put(RouterPath("\(Routes.adminFamilies)/:id/members/:account"), use: include)
            .post(RouterPath("\(Routes.adminFamilies)/:id/members/:account/removal"), use: remove)
    }

    @Sendable
    private func ownFamily(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let account = try context.requireAccountKey()
        return try jsonResponse(FamilyResponse(family: try await families.family(of: account)))
    }

    @Sendable
    private func leave(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let account = try context.requireAccountKey()
        if let refusal = try await families.leave(account, trace: context.trace) {
            throw refusal.problem
        }
        return try jsonResponse(FamilyResponse(family: nil))
    }

    /// Lists families: all, those of one app, or the one of an account.
    @Sendable
    private func list(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let parameters = request.uri.queryParameters
        let bundleID = try identifier(BundleID.self, "bundleID", parameters.get("bundleID"))
        let account = try identifier(AccountID.self, "account", parameters.get("account"))
        let place = try identifier(FamilyID.self, "after", parameters.get("after"))
        guard let account else {
            return try jsonResponse(try await families.families(in: bundleID, after: place))
        }
        guard let bundleID else {
            throw HTTPProblem.queryInvalid("Name the app of the account: bundleID=com.example.app.")
        }
        let found = try await families.family(
            of: AccountKey(accountID: account, bundleID: bundleID)
        )
        return try jsonResponse(FamiliesResponse(families: found.map { [$0] } ?? []))
    }

    @Sendable
    private func create(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await decodeBody(FamilyRequest.self, from: request)
        let act = try context.act(because: body.reason)
        return try await answerChange(
            try await families.create(body, by: act, trace: context.trace),
            context,
            status: .created
        )
    }

    @Sendable
    private func show(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try await answer(try await families.family(try familyID(context)))
    }

    @Sendable
    private func end(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        let id = try familyID(context)
        let body = try await decodeBody(FamilyEndRequest.self, from: request)
        let act = try context.act(because: body.reason)
        return try await answerChange(
            try await families.end(id, by: act, trace: context.trace),
            context
        )
    }

    @Sendable
    private func include(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try familyID(context)
        let account = try context.accountInPath()
        let body = try await decodeBody(FamilyMemberRequest.self, from: request)
        return try await answerChange(
            try await families.include(
                account,
                sharing: body.isSharing,
                in: id,
                by: try context.act(because: body.reason),
                trace: context.trace
            ),
            context
        )
    }

    @Sendable
    private func remove(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try familyID(context)
        let account = try context.accountInPath()
        let body = try await decodeBody(FamilyEndRequest.self, from: request)
        let act = try context.act(because: body.reason)
        return try await answerChange(
            try await families.remove(account, from: id, by: act, trace: context.trace),
            context
        )
    }

    /// The answer to a look at a family.
    private func answer(_ result: Result<Family, FamilyRefusal>) async throws -> Response {
        let family = try found(result)
        return try response(family, strangers: try await families.strangers(in: family))
    }

    /// The answer to a change.
    private func answerChange(
        _ result: Result<Family, FamilyRefusal>,
        _ context: StoreRequestContext,
        status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let family = try found(result)
        let strangers = await families.strangers(afterChangeOf: family, context.logger)
        return try response(family, strangers: strangers, status: status)
    }

    private func found(_ result: Result<Family, FamilyRefusal>) throws -> Family {
        switch result {
        case .failure(let refusal): throw refusal.problem
        case .success(let family): return family
        }
    }

    private func response(
        _ family: Family,
        strangers: [AccountID],
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        try jsonResponse(
            FamilyResponse(family: family, strangers: strangers.isEmpty ? nil : strangers),
            status: status
        )
    }

    private func familyID(_ context: StoreRequestContext) throws -> FamilyID {
        guard let id = context.parameters.get("id").flatMap({ FamilyID(rawValue: $0) }) else {
            throw FamilyRefusal.unknown.problem
        }
        return id
    }

    private func identifier<ID: Identifier>(
        _ type: ID.Type,
        _ name: String,
        _ text: String?
    ) throws -> ID? {
        guard let text else { return nil }
        guard let id = ID(rawValue: text) else {
            throw HTTPProblem.queryInvalid("\(name) is \(ID.form).")
        }
        return id
    }
}

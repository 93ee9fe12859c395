import EventTypes
import Foundation
import Hummingbird
import ServiceKit
import StoreAPI

/// The routes for merchants' reports on purchases whose refund is requested (spec section 2.1), and
/// for administrators to read them before they decide.
struct ConsumptionRoutes: Sendable {
    let authenticator: ServerAPIAuthenticator
    let consumptions: ConsumptionHandler

    /// Adds the routes.
    func add(to router: StoreRouter) {
        router.open.group("/inApps")
            .add(middleware: ServerAPIMiddleware(authenticator: authenticator))
            .put("v1/transactions/consumption/{id}") { try await receive($0, $1, .v1) }
            .put("v2/transactions/consumption/{id}") { try await receive($0, $1, .v2) }
        router.admin.get("\(Routes.adminTransactions)/{id}/consumption") { _, context in
            try await answer(context) { try await consumptions.newest(of: $0) }
        }
        router.admin.get("\(Routes.adminTransactions)/{id}/consumption-report") { _, context in
            try await answer(context) { try await consumptions.newestWithTimes(of: $0)?.json }
        }
    }

    private func receive(
        _ request: Request,
        _ context: StoreRequestContext,
        _ version: ConsumptionReport.Version
    ) async throws -> Response {
        let bundle = try context.requireServer().bundleID
        guard let id = transactionID(context) else { throw ServerAPIError.invalidTransactionID }
        let body = try await collectBody(of: request)
        let report = try ConsumptionReport(Data(body.readableBytesView), version)
        try await consumptions.keep(report, of: id, in: bundle, version)
        return Response(status: .accepted)
    }

    /// Answers with what is known about the transaction of a path, as JSON.
    private func answer(
        _ context: StoreRequestContext,
        _ find: (TransactionID) async throws -> [UInt8]?
    ) async throws -> Response {
        guard let id = transactionID(context), let json = try await find(id) else {
            throw HTTPProblem.notFound("Nothing was said of the consumption of that transaction.")
        }
        return Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json))
        )
    }

    private func transactionID(_ context: StoreRequestContext) -> TransactionID? {
        context.parameters.get("id").flatMap { TransactionID(rawValue: $0) }
    }
}

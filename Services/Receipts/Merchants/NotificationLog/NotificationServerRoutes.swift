import Callbacks
import EventTypes
import Foundation
import Hummingbird
import ServiceKit
import StoreAPI

/// The App Store Server API's calls about notifications: sending a test, its status, and the
/// history (spec section 2.1).
struct NotificationServerRoutes: Sendable {
    let authenticator: ServerAPIAuthenticator
    let notifications: NotificationHandler
    let environment: StoreEnvironment
    /// Returns the store's time, up to which the history can be asked for.
    let now: @Sendable () -> StoreTime
    /// Returns the machines' time, by which the tokens of pages expire.
    let machineNow: @Sendable () -> MachineTime

    /// Adds the routes.
    func add(to router: StoreRouter) {
        router.open.group("/inApps/v1/notifications")
            .add(middleware: ServerAPIMiddleware(authenticator: authenticator))
            .post("test", use: sendTest)
            .get("test/{token}", use: testStatus)
            .post("history", use: history)
    }

    @Sendable private func sendTest(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try context.requireServer().bundleID
        switch try await notifications.sendTest(in: bundle) {
        case .failure(.tooMany(let wait)): throw ServerAPIError.rateLimitExceeded(retryAfter: wait)
        case .failure: throw ServerAPIError.serverNotificationURLNotFound
        case .success(let id):
            return try jsonResponse(TestResponse(testNotificationToken: "\(id)"))
        }
    }

    @Sendable private func testStatus(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try context.requireServer().bundleID
        guard let id = context.parameters.get("token").flatMap({ EventID($0) }) else {
            throw ServerAPIError.invalidTestNotificationToken
        }
        // Before the first try there is no status.
        guard let record = try await notifications.record(of: id, in: bundle),
            !record.attempts.isEmpty
        else { throw ServerAPIError.testNotificationNotFound }
        return try jsonResponse(item(record))
    }

    @Sendable private func history(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try context.requireServer().bundleID
        let body = try await collectBody(of: request)
        let query = try NotificationHistoryQuery(
            Data(body.readableBytesView),
            in: environment,
            at: now()
        )
        let time = machineNow()
        var start: NotificationHistoryToken?
        // Some clients send an empty token with the first page.
        if let text = request.uri.queryParameters.get("paginationToken"), !text.isEmpty {
            start = try NotificationPageToken(text, at: time).start
        }
        let (page, records) = try await notifications.history(of: bundle, query, after: start)
        return try jsonResponse(
            HistoryResponse(
                paginationToken: page.hasMore
                    ? NotificationPageToken(page.token, issuedAt: time).text : nil,
                hasMore: page.hasMore,
                notificationHistory: try records.map(item)
            )
        )
    }

    private func item(_ record: NotificationRecord) throws -> Item {
        Item(
            signedPayload: try notifications.signedPayload(record.content),
            sendAttempts: record.attempts.map {
                Item.Attempt(attemptDate: $0.time, sendAttemptResult: $0.result.rawValue)
            }
        )
    }
}

private struct TestResponse: Encodable {
    var testNotificationToken: String
}

private struct HistoryResponse: Encodable {
    var paginationToken: String?
    var hasMore: Bool
    var notificationHistory: [Item]
}

/// A notification with its tries, as it appears in the history and in the status of a test.
private struct Item: Encodable {
    struct Attempt: Encodable {
        var attemptDate: StoreTime
        var sendAttemptResult: String
    }

    var signedPayload: String
    var sendAttempts: [Attempt]
}

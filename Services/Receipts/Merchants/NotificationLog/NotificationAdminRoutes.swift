import EventTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The administrators' routes for notifications: an app's endpoint, and sending one of any type on
/// demand.
///
/// It contains no SQL and no rules.
struct NotificationAdminRoutes: Sendable {
    let notifications: NotificationHandler

    /// Adds the routes.
    func add(to router: StoreRouter) {
        let path = RouterPath("\(Routes.adminApps)/:bundle/notification-endpoint")
        router.admin
            .get(path, use: endpoint)
            .put(path, use: setEndpoint)
            .delete(path, use: removeEndpoint)
            .post(RouterPath("\(Routes.adminApps)/:bundle/notifications"), use: send)
    }

    @Sendable
    private func endpoint(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        guard let endpoint = try await notifications.endpoint(of: bundle(context)) else {
            throw NotificationRefusal.noEndpoint.problem
        }
        return try jsonResponse(NotificationEndpointDocument(url: endpoint.url))
    }

    @Sendable
    private func setEndpoint(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let bundle = try bundle(context)
        let body = try await decodeBody(NotificationEndpointDocument.self, from: request)
        switch try await notifications.setEndpoint(of: bundle, to: body.url) {
        case .failure(let refusal): throw refusal.problem
        case .success(let endpoint):
            return try jsonResponse(NotificationEndpointDocument(url: endpoint.url))
        }
    }

    @Sendable
    private func removeEndpoint(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try await notifications.removeEndpoint(of: bundle(context))
        return Response(status: .noContent)
    }

    @Sendable
    private func send(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        let bundle = try bundle(context)
        let body = try await decodeBody(NotificationRequest.self, from: request)
        let result: Result<EventID, NotificationRefusal>
        do {
            result = try await notifications.send(body, in: bundle)
        } catch let error as any RetriableError where error.isOutcomeUnknown {
            // Each request creates a notification, so repeating this one could create a second.
            throw HTTPProblem.outcomeUnknown(
                "Nobody knows whether the notification was made. Look into the app's notification "
                    + "history before you ask again."
            )
        }
        switch result {
        case .failure(let refusal): throw refusal.problem
        case .success(let id):
            return try jsonResponse(NotificationResponse(notificationUUID: id), status: .accepted)
        }
    }

    private func bundle(_ context: StoreRequestContext) throws -> BundleID {
        guard let bundle = context.parameters.get("bundle").flatMap({ BundleID(rawValue: $0) })
        else {
            throw HTTPProblem(
                .badRequest,
                code: "bundle_id_malformed",
                title: "The bundle identifier is malformed",
                detail: "The path names \(BundleID.form)."
            )
        }
        return bundle
    }
}

extension NotificationRefusal {
    /// The refusal as a problem for an administrator.
    var problem: HTTPProblem {
        switch self {
        case .noEndpoint:
            HTTPProblem(
                .notFound,
                code: "notification_endpoint_unknown",
                title: "The app has no notification endpoint",
                detail: "Set one with PUT \(Routes.adminApps)/{bundle}/notification-endpoint."
            )
        case .kindUnknown:
            HTTPProblem(
                .badRequest,
                code: "notification_type_unknown",
                title: "There is no such notification",
                detail: "Name a type and, if it has subtypes, one of them: "
                    + NotificationKind.all.map(\.description).joined(separator: ", ") + "."
            )
        case .transactionUnknown:
            HTTPProblem.notFound("The app has no signed transaction of that id.")
        case .isMissing(let part):
            HTTPProblem(
                .badRequest,
                code: "notification_part_missing",
                title: "A part of the notification is missing",
                detail: "Field \(part) is missing or unknown; a notification of this type needs it."
            )
        case .appUnregistered:
            HTTPProblem(
                .conflict,
                code: "app_unregistered",
                title: "The app has no number",
                detail: "In Production a notification gives the app's number: put "
                    + "{\"appAppleID\": …} into app.json beside the app's keys."
            )
        case .tooMany:
            HTTPProblem(
                .tooManyRequests,
                code: "too_many_test_notifications",
                title: "There were many tests within a minute",
                detail: "Ask again in a minute."
            )
        case .addressMalformed(let problem):
            HTTPProblem(
                .badRequest,
                code: "notification_endpoint_malformed",
                title: "The address is malformed",
                detail: "Field url \(problem)."
            )
        }
    }
}

import EventTypes
import Postgres
import StoreAPI

/// The reasons to refuse a notification.
enum NotificationRefusal: Error, Hashable, Sendable {
    /// The app has no endpoint.
    case noEndpoint
    /// The type does not exist, or does not have the subtype.
    case kindUnknown
    /// The app has no transaction with that id.
    case transactionUnknown
    /// The request lacks a part that the kind needs.
    case isMissing(String)
    /// The app has no number in the store, which a notification in Production contains.
    case appUnregistered
    /// The URL is not valid for an endpoint.
    case addressMalformed(String)
    /// There were so many tests that the next one has to wait.
    case tooMany(wait: Duration)
}

/// Handles administrators' and merchants' requests about notifications, each in a database
/// transaction of its own.
struct NotificationHandler: Sendable {
    /// The reasons for requesting a refund, with Apple's names.
    private static let consumptionReasons: Set<String> = [
        "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
    ]

    let client: PostgresClient
    let writer: NotificationWriter
    /// The limit of tests for one app in a minute.
    let testsPerMinute: Int
    let now: @Sendable () -> StoreTime
    /// The machines' time, by which the minute of ``testsPerMinute`` passes.
    let machineNow: @Sendable () -> MachineTime
    /// Called after the commit, when a notification is due.
    let wake: @Sendable () -> Void

    /// Returns the endpoint of a merchant's server, or `nil` if it has none.
    func endpoint(of bundle: BundleID) async throws -> NotificationEndpoint? {
        try await client.withConnection { connection in
            try NotificationStore.endpoints(of: [bundle], on: connection)[bundle]
        }
    }

    /// Sets the endpoint of a merchant's server, to which pending notifications are then sent.
    func setEndpoint(
        of bundle: BundleID,
        to url: String
    ) async throws -> Result<NotificationEndpoint, NotificationRefusal> {
        if let problem = EndpointAddress.problem(of: url) {
            return .failure(.addressMalformed(problem))
        }
        if writer.signer.environment == .production, !url.lowercased().hasPrefix("https:") {
            return .failure(.addressMalformed("is not https, which Production asks for"))
        }
        if writer.signer.environment == .production, writer.app(bundle) == nil {
            return .failure(.appUnregistered)
        }
        let endpoint = NotificationEndpoint(bundleID: bundle, url: url)
        let now = now()
        try await client.withTransaction { connection in
            try NotificationStore.save(endpoint, at: now, on: connection)
        }
        wake()
        return .success(endpoint)
    }

    /// Removes the endpoint of a merchant's server.
    func removeEndpoint(of bundle: BundleID) async throws {
        try await client.withTransaction { connection in
            try NotificationStore.deleteEndpoint(of: bundle, on: connection)
        }
    }

    /// Sends a test notification to a merchant's server, unless there were too many.
    func sendTest(in bundle: BundleID) async throws -> Result<EventID, NotificationRefusal> {
        try await send(
            NotificationRequest(notificationType: NotificationKind.test.type),
            in: bundle,
            atMost: testsPerMinute
        )
    }

    /// Signs a notification of any kind and queues it for sending.
    ///
    /// - Parameters:
    ///   - request: The content of the notification.
    ///   - bundle: The app.
    ///   - limit: The limit of tests in a minute, or `nil` for no limit.
    /// - Returns: Its UUID, or the reason for the refusal.
    /// - Throws: `PostgresError`, ``ReceiptsError``.
    func send(
        _ request: NotificationRequest,
        in bundle: BundleID,
        atMost limit: Int? = nil
    ) async throws -> Result<EventID, NotificationRefusal> {
        guard
            let kind = NotificationKind(type: request.notificationType, subtype: request.subtype)
        else { return .failure(.kindUnknown) }
        let now = now()
        let result = try await client.withTransaction {
            [self] connection -> Result<EventID, NotificationRefusal> in
            guard try !NotificationStore.endpoints(of: [bundle], on: connection).isEmpty else {
                return .failure(.noEndpoint)
            }
            if let limit,
                let earlier = try NotificationStore.test(limit, of: bundle, on: connection)
            {
                let wait = .seconds(60) - machineNow().duration(since: earlier)
                if wait > .zero { return .failure(.tooMany(wait: wait)) }
            }
            switch try content(of: kind, request, in: bundle, at: now, on: connection) {
            case .failure(let refusal): return .failure(refusal)
            case .success(let content):
                return .success(
                    try writer.write(
                        kind,
                        in: bundle,
                        about: try request.transactionId.map {
                            try Self.subscription(of: $0, on: connection)?.id ?? $0
                        },
                        content: content,
                        at: now,
                        on: connection
                    )
                )
            }
        }
        wake()
        return result
    }

    /// Returns a notification of an app with its tries, or `nil` if there is none.
    func record(of id: EventID, in bundle: BundleID) async throws -> NotificationRecord? {
        try await client.withConnection { connection in
            try NotificationHistoryStore.record(of: id, in: bundle, on: connection)
        }
    }

    /// Returns a page of an app's history.
    func history(
        of bundle: BundleID,
        _ query: NotificationHistoryQuery,
        after token: NotificationHistoryToken?
    ) async throws -> (page: NotificationHistoryPage, records: [NotificationRecord]) {
        try await client.withConnection { connection in
            var query = query
            // The notifications of a subscription are found by any of its transactions (rule S234).
            if let id = query.transactionID {
                query.transactionID = try Self.subscription(of: id, on: connection)?.id ?? id
            }
            let bounds = try NotificationHistoryStore.bounds(of: query, on: connection)
            var page = NotificationHistoryPage(query, after: token)
            for limit in NotificationHistoryPage.portions {
                let rows = try NotificationHistoryStore.rows(
                    of: bundle,
                    query,
                    after: page.token,
                    within: bounds,
                    limit: limit,
                    on: connection
                )
                if !page.take(rows, limit: limit) { break }
            }
            return (
                page, try NotificationHistoryStore.records(at: page.positions, on: connection)
            )
        }
    }

    /// Returns a stored notification in compact form.
    func signedPayload(_ stored: StoredNotification) throws -> String {
        try NotificationSigner(signer: writer.signer, now: now).signedPayload(stored)
    }

    private func content(
        of kind: NotificationKind,
        _ request: NotificationRequest,
        in bundle: BundleID,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Result<NotificationPayload.Content, NotificationRefusal> {
        switch kind.content {
        case .app: return .success(.data(NotificationPayload.AppEvent()))
        case .appTransaction:
            guard let id = request.transactionId else {
                return .failure(.isMissing("transactionId"))
            }
            return try appTransaction(of: id, in: bundle, at: now, on: connection)
                .map { .success(.appData(signedAppTransaction: $0)) }
                ?? .failure(.transactionUnknown)
        case .summary:
            guard let summary = request.summary else { return .failure(.isMissing("summary")) }
            return .success(.summary(summary))
        case .externalPurchaseToken:
            guard let id = request.externalPurchaseId else {
                return .failure(.isMissing("externalPurchaseId"))
            }
            // Apple's verifiers derive the environment of a token from the beginning of its id.
            let isSandbox = writer.signer.environment == .sandbox
            return .success(
                .externalPurchaseToken(id: isSandbox ? "SANDBOX_\(id)" : id, createdAt: now)
            )
        case .transaction:
            guard let id = request.transactionId else {
                return .failure(.isMissing("transactionId"))
            }
            let receipts = try NotificationStore.receipts(of: [id], in: bundle, on: connection)
            guard let receipt = receipts[id] else { return .failure(.transactionUnknown) }
            let subscription = try Self.subscription(of: id, on: connection)
            var event = try writer.event(of: subscription, receipt, at: now, on: connection)
            if kind.type == "CONSUMPTION_REQUEST" {
                let reason = request.consumptionRequestReason ?? "OTHER"
                guard Self.consumptionReasons.contains(reason) else {
                    return .failure(.isMissing("consumptionRequestReason"))
                }
                event.consumptionRequestReason = reason
            }
            return .success(.data(event))
        }
    }

    /// Returns the subscription that a transaction belongs to, or `nil` if it belongs to none.
    static func subscription(
        of id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> Subscription? {
        guard let origin = try ServerAPIStore().origin(of: id, on: connection) else { return nil }
        return try SubscriptionStatusStore.load(origin.originalID, on: connection)
    }

    /// Returns the signed app transaction of a transaction's account, or `nil` if the app has no
    /// such transaction.
    private func appTransaction(
        of id: TransactionID,
        in bundle: BundleID,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> String? {
        let store = ServerAPIStore()
        guard let owner = try store.origin(of: id, on: connection)?.owner, owner.bundle == bundle,
            let found = try store.appTransaction(of: owner, on: connection)
        else { return nil }
        let app = writer.app(bundle)
        let payload = AppTransactionPayload(
            found,
            of: bundle,
            appAppleID: app?.appAppleID,
            version: app?.version,
            in: writer.signer.environment,
            at: now
        )
        return try writer.signer.compactJWS(of: payload.encoded())
    }
}

import EventTypes
import Postgres
import StoreAPI

/// Why a notification was not made.
enum NotificationRefusal: Error, Hashable, Sendable {
    /// The app has no endpoint.
    case noEndpoint
    /// There is no such type, or no such subtype of it.
    case kindUnknown
    /// The app has no transaction of that id.
    case transactionUnknown
    /// The kind needs a part that the request does not have.
    case isMissing(String)
    /// The app has no number in the store, which a notification in Production says.
    case appUnregistered
    /// The address is not fit to be one.
    case addressMalformed(String)
    /// There were so many tests that the next has to wait.
    case tooMany(wait: Duration)
}

/// What administrators and merchants' servers ask of notifications, each in a database transaction
/// of its own.
struct NotificationHandler: Sendable {
    /// Why a refund may be asked for, in Apple's words.
    private static let consumptionReasons: Set<String> = [
        "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
    ]

    let client: PostgresClient
    let announcements: AnnouncementHandler
    /// How many tests of one app a minute has.
    let testsPerMinute: Int
    let now: @Sendable () -> Timestamp
    /// Told after the commit that there is something to send.
    let wake: @Sendable () -> Void

    /// Where an app's server is told; `nil` if nowhere.
    func endpoint(of bundle: BundleID) async throws -> NotificationEndpoint? {
        try await client.withConnection { connection in
            try NotificationStore.endpoints(of: [bundle], on: connection)[bundle]
        }
    }

    /// Sets where an app's server is told; what is pending goes there.
    func setEndpoint(
        of bundle: BundleID,
        to url: String
    ) async throws -> Result<NotificationEndpoint, NotificationRefusal> {
        if let problem = EndpointAddress.problem(of: url) {
            return .failure(.addressMalformed(problem))
        }
        if announcements.signer.environment == .production, !url.lowercased().hasPrefix("https:") {
            return .failure(.addressMalformed("is not https, which Production asks for"))
        }
        if announcements.signer.environment == .production, announcements.app(bundle) == nil {
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

    /// Ends the telling of an app's server.
    func removeEndpoint(of bundle: BundleID) async throws {
        try await client.withTransaction { connection in
            try NotificationStore.deleteEndpoint(of: bundle, on: connection)
        }
    }

    /// Sends what an app's server sees by whether it is reached, but not too often.
    func sendTest(in bundle: BundleID) async throws -> Result<EventID, NotificationRefusal> {
        try await send(
            NotificationRequest(notificationType: NotificationKind.test.type),
            in: bundle,
            atMost: testsPerMinute
        )
    }

    /// Signs a notification of any kind and has it sent.
    ///
    /// - Parameters:
    ///   - request: What it says.
    ///   - bundle: The app.
    ///   - limit: How many tests a minute may have; any number if `nil`.
    /// - Returns: Its UUID, or why there is none.
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
                let wait = .seconds(60) - now.duration(since: earlier)
                if wait > .zero { return .failure(.tooMany(wait: wait)) }
            }
            switch try content(of: kind, request, in: bundle, at: now, on: connection) {
            case .failure(let refusal): return .failure(refusal)
            case .success(let content):
                return .success(
                    try announcements.announce(
                        kind,
                        in: bundle,
                        about: request.transactionId,
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

    /// A notification of an app with its tries; `nil` if there is none.
    func record(of id: EventID, in bundle: BundleID) async throws -> NotificationRecord? {
        try await client.withConnection { connection in
            try NotificationHistoryStore.record(of: id, in: bundle, on: connection)
        }
    }

    /// A page of an app's history.
    func history(
        of bundle: BundleID,
        _ query: NotificationHistoryQuery,
        after token: NotificationHistoryToken?
    ) async throws -> (page: NotificationHistoryPage, records: [NotificationRecord]) {
        try await client.withConnection { connection in
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

    /// A stored notification in compact form.
    func signedPayload(_ stored: StoredNotification) throws -> String {
        try NotificationSigner(signer: announcements.signer, now: now).signedPayload(stored)
    }

    private func content(
        of kind: NotificationKind,
        _ request: NotificationRequest,
        in bundle: BundleID,
        at now: Timestamp,
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
            // Apple's verifiers tell the environment of a token by how its id begins.
            let isSandbox = announcements.signer.environment == .sandbox
            return .success(
                .externalPurchaseToken(id: isSandbox ? "SANDBOX_\(id)" : id, createdAt: now)
            )
        case .transaction:
            guard let id = request.transactionId else {
                return .failure(.isMissing("transactionId"))
            }
            guard
                let signed = try NotificationStore.receipt(of: id, in: bundle, on: connection)
            else { return .failure(.transactionUnknown) }
            var event = NotificationPayload.AppEvent(signedTransaction: signed)
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

    /// The app transaction of who made a transaction, signed; `nil` if the app has none of that id.
    private func appTransaction(
        of id: TransactionID,
        in bundle: BundleID,
        at now: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> String? {
        let store = ServerAPIStore()
        guard let owner = try store.place(of: id, on: connection)?.owner, owner.bundle == bundle,
            let found = try store.appTransaction(of: owner, on: connection)
        else { return nil }
        let app = announcements.app(bundle)
        let payload = AppTransactionPayload(
            found,
            of: bundle,
            appAppleID: app?.appAppleID,
            version: app?.version,
            in: announcements.signer.environment,
            at: now
        )
        return try announcements.signer.compactJWS(
            of: payload.encoded(),
            signedAt: payload.receiptCreationDate
        )
    }
}

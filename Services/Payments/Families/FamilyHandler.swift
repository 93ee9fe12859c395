import ClockAndIDs
import EventTypes
import Logging
import Messaging
import Postgres
import StoreAPI
import StoreTracing

/// Makes families, changes them and ends them.
///
/// Each change is one database transaction, which locks the family and appends its event. Repeating a
/// request changes nothing and gets the family as it is.
struct FamilyHandler: Sendable {
    let client: PostgresClient
    let now: @Sendable () -> StoreTime
    /// Called after a commit that appended events to the outbox.
    let didCommit: @Sendable () -> Void

    /// The most families in a page.
    private static let pageSize = 100
    /// The number of times that a change waits for the purchases of its moment.
    private static let waitsMax = 5

    /// Reads a family.
    func family(_ id: FamilyID) async throws -> Result<Family, FamilyRefusal> {
        let found = try await client.withConnection { try FamilyStore.load(id, on: $0) }
        return found.map { .success($0) } ?? .failure(.unknown)
    }

    /// Reads the family of an account; `nil` if it has none.
    func family(of account: AccountKey) async throws -> Family? {
        try await client.withConnection { connection in
            try FamilyStore.families(
                of: [account.accountID],
                in: account.bundleID,
                on: connection
            )[account.accountID]
        }
    }

    /// The members of whom the store knows nothing but their family; perhaps an id is mistyped.
    ///
    /// They are no error: a child may have bought nothing yet.
    func strangers(in family: Family) async throws -> [AccountID] {
        let accounts = family.members.map(\.accountID)
        guard !accounts.isEmpty else { return [] }
        return try await client.withConnection { connection in
            try FamilyStore.strangers(among: accounts, in: family.bundleID, on: connection)
        }
    }

    /// Names the strangers in a family after a change, which is committed.
    ///
    /// So it is no failure of the request if they cannot be read. The reason is logged, and nobody is named.
    func strangers(afterChangeOf family: Family, _ logger: Logger) async -> [AccountID] {
        do {
            return try await strangers(in: family)
        } catch {
            logger.warning(
                "A family was changed, but its members of whom nothing is known could not be read",
                metadata: ["family.id": "\(family.id)", "error": "\(error)"]
            )
            return []
        }
    }

    /// Reads a page of families, the oldest first.
    func families(in bundleID: BundleID?, after id: FamilyID?) async throws -> FamiliesResponse {
        let found = try await client.withConnection { connection in
            try FamilyStore.page(
                in: bundleID,
                after: id,
                limit: Self.pageSize + 1,
                on: connection
            )
        }
        let page = Array(found.prefix(Self.pageSize))
        return FamiliesResponse(
            families: page,
            next: found.count > page.count ? page.last?.id : nil
        )
    }

    /// Makes a family.
    func create(
        _ request: FamilyRequest,
        by act: Act,
        trace: TraceContext
    ) async throws -> Result<Family, FamilyRefusal> {
        try await perform(by: act, trace) { time, connection in
            FamilyRules.creating(
                FamilyID(time: time),
                of: request.organizer,
                with: request.members,
                in: request.bundleID,
                besides: try FamilyStore.families(
                    of: [request.organizer] + request.members,
                    in: request.bundleID,
                    on: connection
                ),
                at: time
            )
        }
    }

    /// Adds an account to a family, or changes whether a member shares.
    func include(
        _ account: AccountID,
        sharing isSharing: Bool?,
        in id: FamilyID,
        by act: Act,
        trace: TraceContext
    ) async throws -> Result<Family, FamilyRefusal> {
        try await change(id, by: act, trace) { family, time, connection in
            let other = try FamilyStore.families(
                of: [account],
                in: family.bundleID,
                on: connection
            )[account]
            return FamilyRules.including(
                account,
                sharing: isSharing,
                in: family,
                besides: other,
                at: time
            )
        }
    }

    /// Takes a member out of a family.
    func remove(
        _ account: AccountID,
        from id: FamilyID,
        by act: Act,
        trace: TraceContext
    ) async throws -> Result<Family, FamilyRefusal> {
        try await change(id, by: act, trace) { family, _, _ in
            FamilyRules.removing(account, from: family)
        }
    }

    /// Takes an account out of its family, as it wishes itself; one without a family has left already.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - trace: The trace of the request.
    /// - Returns: The reason why it cannot leave; `nil` if it is in no family now.
    /// - Throws: `PostgresError`.
    func leave(_ account: AccountKey, trace: TraceContext) async throws -> FamilyRefusal? {
        guard let family = try await family(of: account) else { return nil }
        // An organizer asks in vain, however often. That must not hold the purchases of others.
        guard account.accountID != family.organizer else { return .organizerStays }
        let left = try await change(family.id, by: nil, trace) { family, time, _ in
            FamilyRules.leaving(account.accountID, family, at: time)
        }
        guard case .failure(let refusal) = left else { return nil }
        return refusal
    }

    /// Ends a family.
    func end(
        _ id: FamilyID,
        by act: Act,
        trace: TraceContext
    ) async throws -> Result<Family, FamilyRefusal> {
        try await change(id, by: act, trace) { family, time, _ in
            FamilyRules.ending(family, at: time)
        }
    }

    /// Decides a request about a family, which is locked.
    private func change(
        _ id: FamilyID,
        by act: Act?,
        _ trace: TraceContext,
        _ decide:
            @escaping @Sendable (Family, StoreTime, isolated PostgresConnection) throws
            -> FamilyRules.Verdict
    ) async throws -> Result<Family, FamilyRefusal> {
        try await perform(by: act, trace) { time, connection in
            guard let family = try FamilyStore.lock(id, on: connection) else {
                return .refused(.unknown)
            }
            return try decide(family, time, connection)
        }
    }

    /// Decides a request, and writes and publishes the family if it changes.
    ///
    /// An account that joins another family at the same moment meets the constraint. The second look
    /// sees that family. A change waits only a moment for purchases that are being committed. Then it
    /// lets them go on, and begins again. After ``waitsMax`` times whoever asked has to try again.
    private func perform(
        by act: Act?,
        _ trace: TraceContext,
        _ decide:
            @escaping @Sendable (StoreTime, isolated PostgresConnection) throws
            -> FamilyRules.Verdict
    ) async throws -> Result<Family, FamilyRefusal> {
        for _ in 1..<Self.waitsMax {
            do {
                return try await performOnce(by: act, trace, decide)
            } catch let error as PostgresError
                where error.constraint == FamilyStore.memberConstraint
                || error.code == .lockTimeout
            {
                continue
            }
        }
        return try await performOnce(by: act, trace, decide)
    }

    private func performOnce(
        by act: Act?,
        _ trace: TraceContext,
        _ decide:
            @escaping @Sendable (StoreTime, isolated PostgresConnection) throws
            -> FamilyRules.Verdict
    ) async throws -> Result<Family, FamilyRefusal> {
        let verdict = try await client.withTransaction {
            [now] connection -> FamilyRules.Verdict in
            try FamilyWorkStore.hold(on: connection)
            let time = now()
            let verdict = try decide(time, connection)
            if case .changed(let family) = verdict {
                try FamilyWorkStore.note(
                    Set(try FamilyStore.accounts(of: family.id, on: connection)).union(
                        family.members.map {
                            AccountKey(accountID: $0.accountID, bundleID: family.bundleID)
                        }
                    ),
                    on: connection
                )
                try FamilyStore.save(family, on: connection)
                let event = try OutboxEvent(family, by: act, at: time, traceparent: trace)
                try Outbox.append([event], on: connection)
            }
            return verdict
        }
        switch verdict {
        case .refused(let refusal): return .failure(refusal)
        case .unchanged(let family): return .success(family)
        case .changed(let family):
            didCommit()
            return .success(family)
        }
    }
}

extension OutboxEvent {
    /// The event of a family that changed, in the order of its organizer's events.
    fileprivate init(
        _ family: Family,
        by act: Act?,
        at time: StoreTime,
        traceparent: TraceContext
    ) throws {
        try self.init(
            FamilyChanged(family: family, act: act),
            type: .familyChanged,
            topic: Topics.paymentsTransactions,
            key: family.organizer.rawValue,
            subject: family.id.rawValue,
            time: time,
            traceparent: traceparent
        )
    }
}

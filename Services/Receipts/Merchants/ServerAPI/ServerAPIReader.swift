import EventTypes
import Foundation
import Postgres
import ServiceKit

/// Answers merchants' servers, with a few statements on one connection of the pool for each
/// request.
///
/// A receipt signed with a former leaf is signed again when it is read.
struct ServerAPIReader: Sendable {
    let store: ServerAPIStore
    let client: PostgresClient
    let signer: ReceiptSigner
    let now: @Sendable () -> StoreTime

    /// A page of a history.
    struct Page: Sendable {
        var transactions: [String]
        var revision: HistoryRevision
        var hasMore: Bool
    }

    /// Returns the account that a transaction of an app, or an app transaction, belongs to.
    ///
    /// - Throws: ``ServerAPIError``. A transaction of another app is not found.
    func owner(of id: AnyTransactionID, in bundle: BundleID) async throws -> OwnerKey {
        let owner = try await client.withConnection { [store] connection in
            switch id {
            case .transaction(let id):
                try store.origin(of: id, on: connection)?.owner
            case .appTransaction(let number):
                try store.owner(ofAppTransaction: number, on: connection)
            }
        }
        guard let owner, owner.bundle == bundle else { throw ServerAPIError.transactionIDNotFound }
        return owner
    }

    /// Returns the owner of a transaction of an app, or `nil` if this app has no such transaction.
    func origin(
        of id: TransactionID,
        in bundle: BundleID
    ) async throws -> ServerAPIStore.TransactionOrigin? {
        let origin = try await client.withConnection { [store] connection in
            try store.origin(of: id, on: connection)
        }
        return origin?.owner.bundle == bundle ? origin : nil
    }

    /// Returns the signed form of a transaction of an app.
    ///
    /// - Throws: ``ServerAPIError/transactionIDNotFound``.
    func transaction(_ id: TransactionID, in bundle: BundleID) async throws -> String {
        let receipts = try await client.withConnection { [store] connection in
            guard try store.origin(of: id, on: connection)?.owner.bundle == bundle else {
                return [ServerAPIStore.StoredReceipt]()
            }
            return try store.receipts([id], on: connection)
        }
        guard let receipt = receipts.first else { throw ServerAPIError.transactionIDNotFound }
        return try served(receipt)
    }

    /// Returns a page of an account's history.
    func history(
        of owner: OwnerKey,
        _ query: HistoryQuery,
        from start: HistoryRevision,
        onlyRefunded: Bool = false
    ) async throws -> Page {
        let (page, receipts) = try await client.withConnection { [store] connection in
            var page = HistoryPage(query, from: start)
            for limit in HistoryPage.portions {
                let rows = try store.rows(
                    of: owner,
                    from: page.cursor,
                    downTo: start.floor,
                    query.order,
                    onlyRefunded: onlyRefunded,
                    withGroups: !query.subscriptionGroups.isEmpty,
                    withOwnership: query.isFamilyShared != nil,
                    limit: limit,
                    on: connection
                )
                if !page.take(rows, limit: limit) { break }
            }
            if query.order == .descending {
                page.close(newest: try store.newestPosition(of: owner, on: connection))
            }
            return (page, try store.receipts(page.transactionIDs, on: connection))
        }
        return Page(
            transactions: try receipts.map(served),
            revision: page.revision,
            hasMore: page.hasMore
        )
    }

    /// Returns the statuses of an account's subscriptions, by groups.
    ///
    /// - Parameters:
    ///   - owner: The account.
    ///   - wanted: The statuses to return; all of them if it is empty.
    /// - Returns: The groups, in the order in which their subscriptions began.
    /// - Throws: `PostgresError`; ``ReceiptsError`` if the certificates are not valid at present.
    func statuses(
        of owner: OwnerKey,
        _ wanted: Set<Int>
    ) async throws -> [ServerAPIBodies.SubscriptionStatuses.Group] {
        let reader = SubscriptionStatusReader(
            store: store,
            client: client,
            signer: signer,
            now: now
        )
        var groups: [ServerAPIBodies.SubscriptionStatuses.Group] = []
        for signed in try await reader.statuses(of: owner)
        where wanted.isEmpty || wanted.contains(signed.status) {
            let item = ServerAPIBodies.SubscriptionStatuses.Item(
                status: signed.status,
                originalTransactionId: signed.subscription.id,
                signedTransactionInfo: signed.transaction,
                signedRenewalInfo: signed.renewalInfo
            )
            let group = signed.subscription.groupID
            // A family may share a subscription of a group in which the account has its own (rule S141).
            if let index = groups.firstIndex(where: { $0.subscriptionGroupIdentifier == group }) {
                groups[index].lastTransactions.append(item)
            } else {
                groups.append(
                    ServerAPIBodies.SubscriptionStatuses.Group(
                        subscriptionGroupIdentifier: group,
                        lastTransactions: [item]
                    )
                )
            }
        }
        return groups
    }

    /// Returns an account's app transaction, and the time at which the account was first seen in
    /// the app.
    ///
    /// - Throws: ``ServerAPIError/appTransactionDoesNotExist``.
    func appTransaction(of owner: OwnerKey) async throws -> (id: Int64, firstSeenAt: StoreTime) {
        let found = try await client.withConnection { [store] connection in
            try store.appTransaction(of: owner, on: connection)
        }
        guard let found else { throw ServerAPIError.appTransactionDoesNotExist }
        return found
    }

    private func served(_ receipt: ServerAPIStore.StoredReceipt) throws -> String {
        try signer.jws(of: receipt, at: now())
    }
}

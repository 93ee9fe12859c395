import EventTypes
import Foundation
import Messaging
import Postgres
import ServiceKit
import StoreAPI
import TestSupport

@testable import Payments

extension AuthenticatedAccount {
    var accountKey: AccountKey { AccountKey(accountID: accountID, bundleID: bundleID) }
}

extension Store {
    /// Changes an account as an administrator.
    @discardableResult
    func say(
        canMakePayments: Bool? = nil,
        storefront: String? = nil,
        of account: AuthenticatedAccount = alice
    ) async throws -> Account {
        let change = AccountChangeRequest(
            bundleID: account.bundleID,
            canMakePayments: canMakePayments,
            storefront: storefront.map { Storefront(unchecked: $0) }
        )
        return try await accounts.change(account.accountID, change).get()
    }

    /// Begins a purchase intent outside the app.
    @discardableResult
    func begin(
        _ product: String = "coins",
        quantity: Int = 1,
        key: String = UUID().uuidString,
        for account: AuthenticatedAccount = alice
    ) async throws -> PurchaseIntent {
        let request = PurchaseIntentRequest(
            bundleID: account.bundleID,
            productID: ProductID(unchecked: product),
            quantity: quantity
        )
        return try await accounts.begin(request, for: account.accountID, idempotencyKey: key).get()
    }

    func account(_ account: AuthenticatedAccount = alice) async throws -> Account {
        try await accounts.account(account.accountKey)
    }

    /// The published versions of an account, in the order of publication.
    func accountEvents(of account: AuthenticatedAccount = alice) async throws -> [Account] {
        try await accountChanges(of: account).map(\.account)
    }

    /// The published changes of an account, in the order of publication.
    func accountChanges(
        of account: AuthenticatedAccount = alice
    ) async throws -> [AccountChanged] {
        try await client.withConnection { connection in
            try connection.query(
                """
                SELECT unpacked_json(data)::json FROM outbox
                WHERE type = \(EventType.accountChanged.rawValue)
                    AND key = \(account.accountID) AND topic = \(Topics.paymentsTransactions.name)
                ORDER BY position
                """
            ).map { row in
                let data = try row.decode(PostgresJSON.self)
                return try EventCoding.decode(AccountChanged.self, from: data.bytes)
            }
        }
    }

    /// Locks alice's account until `count` others wait for the lock.
    func holdAccount(
        untilWaiting count: Int64,
        whenHeld isHeld: @escaping @Sendable () -> Void
    ) async throws {
        try await client.withTransaction { connection in
            try AccountStore.lock(alice.accountKey, on: connection)
            isHeld()
            for _ in 0..<100_000 {
                let waiting = try connection.query(
                    """
                    SELECT count(*) FROM pg_locks WHERE NOT granted AND (
                        transactionid = pg_current_xact_id()::xid OR database = (
                            SELECT oid FROM pg_database WHERE datname = current_database()))
                    """
                ).first?.decode(Int64.self)
                if waiting == count { return }
            }
            throw HarnessError("Nobody waits for the account.")
        }
    }

    /// The numbers of rows in every table that a request about an account could change.
    func accountCounts() async throws -> [Int] {
        var counts = try await self.counts()
        for table in ["accounts", "purchase_intents"] {
            counts.append(try await count(table))
        }
        return counts
    }
}

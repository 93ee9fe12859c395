public import EventTypes
import Messaging
import Postgres
import ServiceKit
import StoreAPI
import Testing

@testable import Payments

extension Store {
    /// Sells a film, which gives an entitlement and a credit.
    func sellFilm(
        _ id: String = "film",
        isShareable: Bool = true,
        price: Money = usd(999),
        version: Int = 2
    ) async throws {
        var film = product(id, .nonConsumable, price: price, version: version)
        film.isFamilyShareable = isShareable
        film.deliveryPlan = [.entitlement, .credit(unit: "stars", amount: 5)]
        try await sell(film)
    }

    /// Looks at the shares of all members until nothing is left to do.
    func shareAll(limit: Int = 100) async throws {
        let handler = FamilyShareHandler(context: context, didCommit: {}, limit: limit)
        while try await handler.carryOutNext() {}
    }

    /// The shares that stand, in the order of the members who have them.
    func shares() async throws -> [Transaction] {
        try await client.withConnection { connection in
            let ids = try connection.query(
                """
                SELECT id FROM transactions WHERE reason = 'familyShared' AND revoked_at IS NULL
                """
            ).map { TransactionID(number: try $0.decode(Int64.self)) }
            return try TransactionStore.load(ids, on: connection).values.map(\.transaction)
                .sorted { ($0.accountID, $0.id) < ($1.accountID, $1.id) }
        }
    }

    func note(_ accounts: AccountID...) async throws {
        try await client.withTransaction { connection in
            try FamilyWorkStore.note(
                Set(accounts.map { AccountKey(accountID: $0, bundleID: alice.bundleID) }),
                on: connection
            )
        }
    }
}

extension Act {
    /// The administrator who makes and changes families.
    static let nora = Act(
        decidedBy: AdministratorName(unchecked: "nora"),
        reason: ActReason(rawValue: "Asked by mail")
    )
}

extension AccountID: ExpressibleByStringLiteral {
    /// Wraps a text without checking it.
    public init(stringLiteral account: String) { self.init(unchecked: account) }
}

import HTTPTypes
import Hummingbird

/// Lists what a buyer owns: `GET /api/owned`.
///
/// The store's word alone would do, as it comes over this server's own connection. Each receipt is
/// verified all the same: that is what an app does that was offline, or trusts nobody in between.
struct OwnedRoutes: Sendable {
    let store: StoreCaller
    let sessions: SessionRoutes
    let receipts: ReceiptRoutes

    func add(to router: Router<BasicRequestContext>) {
        router.get("/api/owned") { request, _ in
            let account = try sessions.session(of: request).buyer.accountID
            return try jsonResponse(try await owned(by: account))
        }
    }

    /// The newest page of what the store says.
    private struct Entitlements: Decodable {
        var entitlements: [OwnedProduct]
        var next: String?
    }

    private struct Credits: Decodable {
        var balances: [String: Int64]
    }

    private func owned(by account: String) async throws -> OwnedAnswer {
        let entitlements: Entitlements = try await store.value(
            of: .get(.fulfillment, "/v1/entitlements"),
            for: account
        )
        let credits: Credits = try await store.value(
            of: .get(.fulfillment, "/v1/credits"),
            for: account
        )
        var answer = OwnedAnswer(
            of: entitlements.entitlements,
            isCut: entitlements.next != nil,
            balances: credits.balances
        )
        answer.take(await verdicts(on: answer.tried, for: account))
        return answer
    }

    /// The verdicts by transaction; one that cannot be had is left out.
    private func verdicts(
        on transactions: Set<String>,
        for account: String
    ) async -> [String: ReceiptVerdict] {
        await withTaskGroup(of: (String, ReceiptVerdict?).self) { group in
            var rest = transactions
            var verdicts: [String: ReceiptVerdict] = [:]
            func begin() {
                guard let id = rest.popFirst() else { return }
                // While `receipts` is away the page shows the product as not verified yet.
                group.addTask { (id, try? await receipts.verdict(on: id, for: account)) }
            }
            for _ in 0..<4 { begin() }
            while let (id, verdict) = await group.next() {
                verdicts[id] = verdict
                begin()
            }
            return verdicts
        }
    }
}

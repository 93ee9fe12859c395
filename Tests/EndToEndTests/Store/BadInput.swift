import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// Invalid requests of clients: each has its status and code, and changes nothing.
    @Suite
    struct BadInput {
        @Test func everyBadPaymentIsRefusedAndChangesNothing() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                try await store.addSubscription()
                let client = try store.client(account: "ada")
                let before = try await store.records()
                for (name, body, status, code) in try badPayments() {
                    let response = try await client.raw(
                        .POST,
                        store.urls.payments + Routes.payments,
                        body: body,
                        headers: [
                            ("content-type", "application/json"), ("idempotency-key", "bad"),
                        ]
                    )
                    expect(response, status, code, name)
                }
                try await expectRefusedHeaders(client, store)
                #expect(try await store.records() == before)
            }
        }

        private func badPayments() throws -> [(String, [UInt8], Int, String)] {
            func body(_ change: (inout [String: Any]) -> Void) throws -> [UInt8] {
                let sample = try JSONEncoder().encode(PaymentRequest.sample())
                var fields =
                    try JSONSerialization.jsonObject(with: sample) as? [String: Any] ?? [:]
                change(&fields)
                return Array(try JSONSerialization.data(withJSONObject: fields))
            }
            let huge = String(repeating: "x", count: 100_000)
            return [
                (
                    "unknown product", try body { $0["productID"] = "com.example.nothing" }, 400,
                    "product_unknown"
                ),
                (
                    "off sale", try body { $0["productID"] = "com.example.levels.classic" }, 400,
                    "product_unavailable"
                ),
                (
                    "two of a subscription",
                    Array(
                        try JSONEncoder().encode(
                            PaymentRequest.sample(SampleCatalog.club, quantity: 2)
                        )
                    ), 400, "quantity_out_of_range"
                ),
                (
                    "not sold there", try body { $0["storefront"] = "DEU" }, 400,
                    "product_unavailable"
                ),
                ("quantity 0", try body { $0["quantity"] = 0 }, 400, "quantity_out_of_range"),
                (
                    "negative quantity", try body { $0["quantity"] = -1 }, 400,
                    "quantity_out_of_range"
                ),
                (
                    "huge quantity", try body { $0["quantity"] = Int.max }, 400,
                    "quantity_out_of_range"
                ),
                (
                    "wrong currency",
                    try body { $0["price"] = ["minorUnits": 99, "currency": "EUR"] }, 400,
                    "wrong_currency"
                ),
                (
                    "unknown currency",
                    try body { $0["price"] = ["minorUnits": 99, "currency": "XXX"] }, 400,
                    "malformed_json"
                ),
                (
                    "unknown storefront", try body { $0["storefront"] = "USX" }, 400,
                    "malformed_json"
                ),
                (
                    "stale price",
                    try body { $0["price"] = ["minorUnits": 98, "currency": "USD"] }, 409,
                    "stale_price"
                ),
                (
                    "unknown payment method", try body { $0["paymentMethod"] = "gold" }, 400,
                    "payment_method_unknown"
                ),
                ("a missing field", try body { $0["price"] = nil }, 400, "malformed_json"),
                ("a fraction", try body { $0["quantity"] = 1.5 }, 400, "malformed_json"),
                ("malformed JSON", Array(#"{"productID": "#.utf8), 400, "malformed_json"),
                ("no body", [], 400, "malformed_json"),
                (
                    "oversized", try body { $0["applicationUsername"] = huge }, 413,
                    "body_too_large"
                ),
            ]
        }

        private func expectRefusedHeaders(
            _ client: StoreClient,
            _ store: StoreHarness
        ) async throws {
            let url = store.urls.payments + Routes.payments
            let body = Array(try JSONEncoder().encode(PaymentRequest.sample()))
            let json = ("content-type", "application/json")
            expect(
                try await client.raw(.POST, url, body: body, headers: [json]),
                400,
                "idempotency_key_missing",
                "no idempotency key"
            )
            expect(
                try await client.raw(
                    .POST,
                    url,
                    body: body,
                    headers: [json, ("idempotency-key", "a b")]
                ),
                400,
                "idempotency_key_malformed",
                "an idempotency key with a space"
            )
            expect(
                try await client.raw(
                    .POST,
                    url,
                    body: body,
                    headers: [("content-type", "text/plain"), ("idempotency-key", "k")]
                ),
                415,
                "unsupported_media_type",
                "another media type"
            )
            expect(
                try await client.raw(.GET, store.urls.payments + "/v1/nothing"),
                404,
                "not_found",
                "an unknown route"
            )
        }

        @Test func stalePriceNamesThePresentOne() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                var request = PaymentRequest.sample()
                request.price = SampleCatalog.usd(1)
                let problem = try await store.client(account: "ada").add(request).problem
                #expect(problem?.status == 409)
                #expect(problem?.currentPrice == SampleCatalog.usd(99))
            }
        }

        @Test func aRequestWithoutAValidTokenIsRefusedEverywhere() async throws {
            try await withStore { store in
                let ada = AccountID(unchecked: "ada")
                let keys = store.keys
                let tokens = [
                    "no token": nil, "no such token": "nonsense",
                    "a forged signature": try keys.forgedToken(account: ada),
                    // It expired longer ago than the tolerated clock difference.
                    "an expired token": try keys.token(
                        account: ada,
                        lifetime: .seconds(30),
                        age: .seconds(300)
                    ),
                    "a token for somebody else": try keys.token(account: ada, audience: "other"),
                    "a token of more than a day": try keys.token(
                        account: ada,
                        lifetime: .seconds(3 * 24 * 3600)
                    ),
                ]
                let urls = store.urls
                for (name, token) in tokens {
                    for url in [
                        urls.catalog + Routes.products + "?ids=a&storefront=USA",
                        urls.payments + Routes.transaction(TransactionID(number: 1)),
                        urls.receipts + Routes.receipt(TransactionID(number: 1)),
                        urls.fulfillment + Routes.queue,
                    ] {
                        let response = try await StoreHTTP.send(
                            .GET,
                            url,
                            headers: token.map { [("authorization", "Bearer \($0)")] } ?? []
                        )
                        expect(response, 401, "unauthorized", "\(name) at \(url)")
                    }
                }
                // An account is not an administrator.
                let response = try await store.client(account: "ada").raw(
                    .POST,
                    urls.payments + Routes.refund(TransactionID(number: 1)),
                    body: Array("{}".utf8)
                )
                #expect([401, 403].contains(response.status), "\(response.text)")
                // An administrator may do only what the token's scopes open.
                let reader = try store.keys.administratorToken(scope: "read")
                for url in [
                    urls.catalog + Routes.adminCatalog,
                    urls.payments + Routes.refund(TransactionID(number: 1)),
                    urls.receipts + Routes.adminTransactions + "/1/receipt",
                    urls.fulfillment + Routes.webhooks(TransactionID(number: 1)),
                ] {
                    let isRead = url.hasSuffix("receipt")
                    let isImport = url.hasSuffix("catalog")
                    let response = try await StoreHTTP.send(
                        isRead ? .GET : isImport ? .PUT : .POST,
                        url,
                        headers: [("authorization", "Bearer \(reader)")]
                    )
                    expect(response, 403, "scope_missing", url)
                }
                let seen = try await StoreHTTP.send(
                    .GET,
                    urls.catalog + Routes.adminCatalog,
                    headers: [("authorization", "Bearer \(reader)")]
                )
                #expect(seen.status == 200)
            }
        }

        @Test func anotherAccountsTransactionIsAsUnknownAsNone() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy(as: "ada")
                try await store.finish([payment])
                let eve = try store.client(account: "eve")
                let (id, none) = (payment.transactionID, TransactionID(number: 999_999_999))
                let urls = store.urls
                for (method, theirs, nobodys) in [
                    (
                        "GET", urls.payments + Routes.transaction(id),
                        urls.payments + Routes.transaction(none)
                    ),
                    (
                        "GET", urls.receipts + Routes.receipt(id),
                        urls.receipts + Routes.receipt(none)
                    ),
                    (
                        "POST", urls.fulfillment + Routes.finish(id),
                        urls.fulfillment + Routes.finish(none)
                    ),
                ] {
                    let first = try await eve.raw(.init(rawValue: method), theirs)
                    let second = try await eve.raw(.init(rawValue: method), nobodys)
                    #expect(first.status == 404, "\(theirs): \(first.text)")
                    #expect(first.body == second.body, "Nothing may tell that it is another's.")
                }
                #expect(try await eve.entitlements().value.entitlements.isEmpty)
                #expect(try await eve.unfinished().value.transactions.isEmpty)
                try await store.expectWhole([payment])
            }
        }

        @Test func oneKeyIsOneEffect() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let request = PaymentRequest.sample()
                // With Stripe all pay with the same card.
                _ = try await client.payingMethod()
                let ids = try await withThrowingTaskGroup(of: TransactionID.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            try await client.add(request, key: "one").value.transaction.id
                        }
                    }
                    return try await group.reduce(into: Set<TransactionID>()) { $0.insert($1) }
                }
                #expect(ids.count == 1, "Twenty requests at once, one effect.")
                var other = request
                other.quantity = 2
                let answer = try await client.add(other, key: "one")
                #expect(answer.status == 422)
                #expect(answer.problem?.code == "idempotency_key_reused")
                let id = try #require(ids.first)
                try await store.expectWhole([
                    AcceptedPayment(transactionID: id, account: client.account)
                ])
            }
        }

        @Test(.onlySandbox("No card waits for approval."))
        func finishFitsTheState() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let deferred = try await store.buy(by: .needsApproval)
                try await client.wait(for: deferred.transactionID, toBe: .deferred)
                try await eventually("the queue to know") {
                    try await client.unfinished().value.transactions.contains {
                        $0.transaction.state == .deferred
                    } ? true : nil
                }
                let refused = try await client.finish(deferred.transactionID)
                #expect(refused.status == 409)
                #expect(refused.problem?.code == "transaction_deferred")
                _ = try await store.administrator.decide(.approve, on: deferred.transactionID)
                    .value
                let first = try await client.finishUntilDone(deferred.transactionID)
                let second = try await client.finish(deferred.transactionID).value
                #expect(first == second)
                try await store.expectWhole([deferred])
            }
        }

        private func expect(
            _ response: StoreResponse,
            _ status: Int,
            _ code: String,
            _ name: String
        ) {
            // The comparison below detects a wrong body.
            let problem = try? response.decode(Problem.self)
            #expect(response.status == status, "\(name): \(response.text)")
            #expect(problem?.code == code, "\(name): \(response.text)")
            #expect(problem?.status == status, "\(name)")
            #expect(
                response.headers.first(name: "content-type")?
                    .hasPrefix("application/problem+json") == true,
                "\(name)"
            )
        }
    }
}

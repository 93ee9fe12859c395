import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// Extensions by a merchant's server and by an administrator, of one subscriber and of all.
    @Suite
    struct Extensions {
        private static let path = "/inApps/v1/subscriptions/extend"

        private struct Extended: Decodable {
            var effectiveDate: Int64
        }

        fileprivate struct Status: Decodable {
            var complete: Bool
            var succeededCount: Int64?
            var failedCount: Int64?
        }

        @Test func aMerchantExtendsOneSubscriberAndThenAll() async throws {
            try await withStore { store in
                let ada = try await store.subscribe()
                let ben = try await store.buy(SampleCatalog.club, as: "ben")
                for (name, payment) in [("ada", ada), ("ben", ben)] {
                    try await store.client(account: name)
                        .wait(for: payment.transactionID, toBe: .purchased)
                }
                let merchant = try await WebhookReceiver.start()
                _ = try await store.administrator.setNotificationEndpoint(to: merchant.url).value
                let one = try await store.ask(
                    .PUT,
                    "\(Self.path)/\(ada.transactionID)",
                    #"{"extendByDays":3,"extendReasonCode":1,"requestIdentifier":"one"}"#
                )
                let extended = try JSONDecoder().decode(Extended.self, from: Data(one))
                let end = StoreTime(millisecondsSinceEpoch: extended.effectiveDate)
                #expect(try await store.subscription(ada).period.end == end)
                _ = try await store.ask(
                    .POST,
                    "\(Self.path)/mass",
                    """
                    {"extendByDays":5,"extendReasonCode":3,"requestIdentifier":"all",
                    "productId":"\(SampleCatalog.club)"}
                    """
                )
                let status = try await store.untilComplete(
                    "\(Self.path)/mass/\(SampleCatalog.club)/all"
                )
                #expect(status.succeededCount == 2 && status.failedCount == 0)
                let later = end.advanced(by: .seconds(5 * 86_400))
                try await eventually("the receipt and the entitlement to end later") {
                    let client = try store.client(account: "ada")
                    let owned = try await client.entitlements().value.entitlements
                    let signed = try await client.receipt(ada.transactionID).value.signedTransaction
                    return owned.map(\.endsAt) == [later]
                        && StoreHarness.claims(signed).contains(
                            "\"expiresDate\":\(later.millisecondsSinceEpoch),"
                        ) ? true : nil
                }
                // The merchant may still hear of the purchases, too.
                func told(_ text: String) -> Int {
                    merchant.deliveries.count {
                        StoreHarness.claims(ofBody: $0.body).contains(text)
                    }
                }
                try await eventually("the merchant to hear of each extension") {
                    told("\"RENEWAL_EXTENDED\"") >= 3 && told("\"succeededCount\":2") >= 1
                        ? true : nil
                }
                #expect(told("\"RENEWAL_EXTENDED\"") == 3 && told("\"succeededCount\":2") == 1)
                await merchant.stop()
                let advance = try await store.counterfoil("clock", "advance", "42d")
                #expect(advance.output.contains("Done: 2 renewals."), "\(advance.output)")
                #expect(try await store.subscription(ada).period.start == later)
                try await store.expectProof()
            }
        }

        @Test func noExtensionIsLongerThanNinetyDays() async throws {
            try await withStore { store in
                let ada = try await store.subscribe()
                let before = try await store.subscription(ada).period.end
                for days in [0, 91] {
                    let one = ExtensionRequest(days: days)
                    let all = MassExtensionRequest(
                        bundleID: StoreKeys.bundleID,
                        productID: SampleCatalog.club,
                        days: days
                    )
                    for (path, body) in [
                        (Routes.adminExtensions(ada.transactionID), try JSONEncoder().encode(one)),
                        (Routes.adminMassExtensions, try JSONEncoder().encode(all)),
                    ] {
                        let answer = try await store.administrator.raw(
                            .POST,
                            store.urls.payments + path,
                            body: Array(body)
                        )
                        #expect(answer.status == 400, "\(path): \(answer.text)")
                        #expect(answer.text.contains("extension_out_of_range"), "\(answer.text)")
                    }
                    let said = try await store.counterfoil(
                        "subscriptions",
                        "extend",
                        "\(ada.transactionID)",
                        "--days",
                        "\(days)"
                    )
                    #expect(said.exit != .code(0) && said.output.contains("from 1 to 90"))
                }
                #expect(try await store.subscription(ada).period.end == before)
            }
        }

        @Test func aStoreWithoutServerKeysAnswersNoCallToExtend() async throws {
            let settings = [StoreService.payments: ["SERVER_KEYS_DIRECTORY": ""]]
            try await withStore(.with(settings: settings)) { store in
                let ada = try await store.subscribe()
                let before = try await store.subscription(ada).period.end
                let text = #"{"extendByDays":3,"extendReasonCode":1,"requestIdentifier":"one"}"#
                let body = Array(text.utf8)
                let calls: [(HTTPMethod, String)] = [
                    (.PUT, "/\(ada.transactionID)"), (.POST, "/mass"), (.GET, "/mass/club/all"),
                ]
                for (method, path) in calls {
                    let answer = try await StoreHTTP.send(
                        method,
                        store.urls.receipts + Self.path + path,
                        headers: [("authorization", "Bearer \(try store.keys.serverToken())")],
                        body: method == .GET ? nil : body
                    )
                    #expect(answer.status == 404, "\(path)")
                }
                #expect(try await store.subscription(ada).period.end == before)
            }
        }

        /// The crash point of a page, in the table of Messaging's documentation.
        @Test func beforeAPageOfExtensionsIsCommitted() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                let ada = try await store.subscribe()
                let before = try await store.subscription(ada).period.end
                let hold = try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "UPDATE mass_extensions"),
                    occurrence: 2
                )
                let arguments = [
                    "subscriptions", "extend-all", SampleCatalog.club.rawValue, "--app",
                    StoreKeys.bundleID.rawValue, "--days", "3", "--key", "outage",
                ]
                let asked = try await store.counterfoil(arguments)
                #expect(asked.exit == .code(0), "\(asked.output)")
                try await store.crash(.payments, at: hold)
                try await eventually("the request to be complete") {
                    let again = try await store.counterfoil(arguments)
                    return again.output.contains("complete: 1 extended, 0 failed") ? true : nil
                }
                let after = try await store.subscription(ada)
                #expect(after.extensions?.count == 1)
                #expect(after.period.end == before.advanced(by: .seconds(3 * 86_400)))
                try await store.expectProof()
            }
        }
    }
}

extension StoreHarness {
    /// Sends a request of a merchant's server to `receipts`, and expects 200.
    fileprivate func ask(
        _ method: HTTPMethod,
        _ path: String,
        _ body: String? = nil
    ) async throws -> [UInt8] {
        let answer = try await StoreHTTP.send(
            method,
            urls.receipts + path,
            headers: [("authorization", "Bearer \(try keys.serverToken())")],
            body: body.map { Array($0.utf8) }
        )
        let text = String(decoding: answer.body, as: UTF8.self)
        try #require(answer.status == 200, "\(text)")
        return answer.body
    }

    /// Asks until a request for all subscribers is complete.
    fileprivate func untilComplete(_ path: String) async throws -> EndToEnd.Extensions.Status {
        try await eventually("the request to be complete") {
            let body = try await ask(.GET, path)
            let status = try JSONDecoder().decode(
                EndToEnd.Extensions.Status.self,
                from: Data(body)
            )
            return status.complete ? status : nil
        }
    }

    /// Reads the subscription that began with a payment.
    fileprivate func subscription(_ payment: AcceptedPayment) async throws -> Subscription {
        let answer = try await client(account: payment.account.rawValue).raw(
            .GET,
            urls.payments + Routes.subscriptions + "/\(payment.transactionID)"
        )
        return try answer.decode(SubscriptionResponse.self).subscription
    }

    /// Expects that the books can be rebuilt, and that they agree.
    fileprivate func expectProof() async throws {
        let proof = try await verify()
        #expect(proof.exit == .code(0), "\(proof.output)")
        let audit = try await counterfoil("reconcile")
        #expect(audit.exit == .code(0), "\(audit.output)")
    }

    /// The claims of a signed text, without a check of its signature.
    static func claims(_ jws: some StringProtocol) -> String {
        let parts = jws.split(separator: ".")
        guard parts.count == 3, let claims = StrictBase64.decode(parts[1]) else { return "" }
        return String(decoding: claims, as: UTF8.self)
    }

    /// The claims of a notification.
    static func claims(ofBody body: [UInt8]) -> String {
        let text = String(decoding: body, as: UTF8.self)
        return claims(text.split(separator: "\"").max { $0.count < $1.count } ?? "")
    }
}

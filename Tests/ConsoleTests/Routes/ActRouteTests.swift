import EventTypes
import HTTPTypes
import HummingbirdTesting
import NIOCore
import OperatorCore
import StoreAPI
import Testing

@testable import Console

/// Pages and acts with services that answer, or do not.
@Suite(.timeLimit(.minutes(10)))
struct ActRouteTests {
    private static let page = "/purchases/\(StandInStore.id)"
    private static let order = OrderID(StandInStore.id)

    @Test func aRefundWhoseAnswerIsLostIsRepeatedAsItWas() async throws {
        let store = StandInStore(losing: 1)
        try await store.run { urls in
            try await ConsoleUnderTest.run(urls: urls) { console in
                let (cookie, csrf) = try await console.signIn()
                func refund(_ fields: String, key: String) async throws -> TestResponse {
                    try await console.send(
                        .post,
                        Self.page + "/refund",
                        cookie: cookie,
                        form: "order=\(Self.order)&key=\(key)&\(fields)&csrf=\(csrf)"
                    )
                }
                let first = try await refund("amount=0.50&effect=keep&reason=late", key: "key-1")
                #expect(first.status == .serviceUnavailable)
                let words = String(buffer: first.body)
                #expect(words.contains("No answer came"))
                #expect(words.contains("href=\"\(Self.page)\""), "it leads back to the purchase")
                let other = try await refund("reason=again", key: "key-2")
                #expect(other.status == .conflict, "the first one may have been made")
                #expect(store.acts.count == 1)
                let again = try await refund("repeat=true", key: "key-1")
                #expect(again.headers[.location] == Self.page + "?done=refund")
                #expect(store.acts.count == 2)
                #expect(store.acts.first?.refund == store.acts.last?.refund)
                let sent = store.acts.first
                #expect(sent?.path == Routes.refund(StandInStore.id) && sent?.key == "key-1")
                #expect(sent?.refund?.amount?.minorUnits == 50 && sent?.refund?.revokes == false)
                #expect(sent?.refund?.reason == ActReason(rawValue: "late"))
                #expect(sent?.hasToken == true)
                // The store has answered, so nothing is left to repeat, and the next one is another.
                let late = try await refund("repeat=true", key: "key-1")
                #expect(late.status == .conflict)
                let next = try await refund("reason=again", key: "key-2")
                #expect(next.status == .seeOther)
                #expect(store.acts.map(\.key) == ["key-1", "key-1", "key-2"])
            }
        }
    }

    @Test func whoTypesAnotherOrderRefundsNothing() async throws {
        let store = StandInStore()
        try await store.run { urls in
            try await ConsoleUnderTest.run(urls: urls) { console in
                let (cookie, csrf) = try await console.signIn()
                let answer = try await console.send(
                    .post,
                    Self.page + "/refund",
                    cookie: cookie,
                    form: "order=W1&key=key-1&reason=late&csrf=\(csrf)"
                )
                #expect(answer.status == .badRequest)
                #expect(String(buffer: answer.body).contains("\(Self.order)"))
                #expect(store.acts.isEmpty)
            }
        }
    }

    @Test func fulfillmentSendsWebhooksAgainForTheFormOfAPage() async throws {
        let store = StandInStore()
        try await store.run { urls in
            // Nothing else of the store is needed.
            let own = urls.filter { $0.key == .fulfillment }
            try await ConsoleUnderTest.run(urls: own) { console in
                let (cookie, csrf) = try await console.signIn()
                let answer = try await console.send(
                    .post,
                    Self.page + "/webhooks",
                    cookie: cookie,
                    form: "csrf=\(csrf)"
                )
                #expect(answer.status == .seeOther)
                #expect(answer.headers[.location] == Self.page + "?done=resend")
                #expect(store.acts.map(\.path) == [Routes.webhooks(StandInStore.id)])
                #expect(store.acts.first?.hasToken == true)
            }
        }
    }

    @Test func whoAnswersBuyersReadsTheReceipt() async throws {
        try await StandInStore().run { urls in
            try await ConsoleUnderTest.run(scopes: [.support], urls: urls) { console in
                let (cookie, _) = try await console.signIn()
                let answer = try await console.send(.get, Self.page + "/receipt", cookie: cookie)
                #expect(answer.status == .ok)
                let page = String(buffer: answer.body)
                #expect(page.contains("&quot;environment&quot; : &quot;Sandbox&quot;"))
                #expect(page.contains("&lt;b&gt;coins&lt;/b&gt;") && !page.contains("<b>coins"))
                #expect(page.contains("id=\"jws\"") && page.contains(">e30."))
            }
        }
    }
}

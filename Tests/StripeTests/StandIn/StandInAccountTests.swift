import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import StripeStandIn
import Synchronization
import TestSupport
import Testing

@testable import Stripe

/// Two accounts of one stand-in, which have nothing in common but the address.
@Suite(.timeLimit(.minutes(10)))
struct StandInAccountTests {
    private static let gamesKey = "rk_test_of_the_games"

    private static var options: StandInOptions {
        var games = StandInOptions()
        games.name = "games"
        games.series = "games"
        games.keys = [gamesKey]
        var options = StandInOptions()
        options.keys = [StandInUnderTest.key]
        options.others = [games]
        return options
    }

    /// Runs a stand-in with two accounts.
    ///
    /// - Parameters:
    ///   - options: The settings.
    ///   - body: Receives the first account with a client of it, and the second one.
    /// - Throws: The error of the body.
    private static func run(
        _ options: StandInOptions = Self.options,
        _ body:
            @escaping @Sendable (_ first: StandInUnderTest, _ games: StandInUnderTest) async throws
            -> Void
    ) async throws {
        try await StandInUnderTest.run(options) { first in
            let server = try #require(first.server.account(named: "games"))
            try await first.with(gamesKey, of: server) { try await body(first, $0) }
        }
    }

    @Test func theKeyDecidesInWhoseBooksACallIs() async throws {
        try await Self.run { first, games in
            _ = try await first.charge("a1", of: try await first.customer())
            // The same idempotency keys are other keys at another account.
            _ = try await games.charge("a1", of: try await games.customer())
            _ = try await games.charge("a2", of: try await games.customer())
            #expect(first.server.entries.map(\.attempt) == ["a1"])
            #expect(games.server.entries.map(\.attempt) == ["a1", "a2"])
            #expect(first.server.paymentCalls == 1 && games.server.paymentCalls == 2)
            let (mine, theirs) = (
                try await first.get("balance_transactions"),
                try await games.get("balance_transactions")
            )
            #expect(mine.text.contains("txn_standin") && !mine.text.contains("txn_games"))
            #expect(theirs.text.contains("txn_games") && !theirs.text.contains("txn_standin"))
        }
    }

    @Test func oneAccountSeesNothingOfAnother() async throws {
        try await Self.run { first, games in
            let customer = try await first.customer()
            let paid = try await first.charge("a1", of: customer)
            for call in [
                "payment_intents/\(paid.id)", "customers/\(customer)",
                "refunds?payment_intent=\(paid.id)",
            ] {
                let (mine, theirs) = (try await first.get(call), try await games.get(call))
                #expect(mine.status == 200, "\(call)")
                guard !call.contains("?") else {
                    #expect(theirs.text.contains(#""data":[]"#), "\(theirs.text)")
                    continue
                }
                #expect(theirs.status == 404, "\(call)")
                #expect(theirs.text.contains("resource_missing"), "\(theirs.text)")
            }
            let events = try await games.get("events")
            #expect(events.text.contains(#""data":[]"#), "\(events.text)")
            // Nothing of the other account can be charged or given back.
            let refund = try await failure { try await games.refund(paid, "r1") }
            #expect(refund?.error?.code == "resource_missing")
            let charge = try await failure { try await games.charge("a2", of: customer) }
            #expect(charge?.error?.code == "resource_missing")
            #expect(games.server.entries.isEmpty && first.server.entries.count == 1)
        }
    }

    @Test func aKeyThatIsUnknownOrRevokedIsRefused() async throws {
        try await Self.run { first, games in
            try await first.with("rk_test_of_a_stranger", of: first.server) { stranger in
                let refused = try await failure { try await stranger.customer() }
                #expect(refused?.status == 401)
                first.server.issue("rk_test_of_a_stranger")
                _ = try await stranger.customer()
            }
            games.server.revoke(Self.gamesKey)
            let revoked = try await failure { try await games.customer() }
            #expect(revoked?.status == 401)
            _ = try await first.customer("bob")
        }
    }

    @Test func aFaultOfOneAccountMeetsNoCallOfAnother() async throws {
        try await Self.run { first, games in
            games.server.inject(StandInFault(.down, count: .max))
            let down = try await failure { try await games.customer() }
            #expect(down?.status == 503)
            _ = try await first.customer()
            games.server.clearFaults()
            _ = try await games.customer()
            let control = try await StoreHTTP.send(
                .POST,
                "\(first.url)/control/faults",
                body: Array("account=games&kind=down".utf8)
            )
            #expect(control.status == 204)
            _ = try await first.customer("bob")
            let again = try await failure { try await games.customer("bob") }
            #expect(again?.status == 503)
        }
    }

    @Test func eachAccountTellsItsOwnAddress() async throws {
        let received = Mutex<[(path: String, body: String)]>([])
        let router = Router()
        router.post("/hook/{account}") { request, _ in
            let body = String(buffer: try await request.body.collect(upTo: 1 << 20))
            received.withLock { $0.append((path: request.uri.path, body: body)) }
            return HTTPResponse.Status.ok
        }
        try await HookServer.run(router) { url in
            var options = Self.options
            options.webhooks = StandInOptions.Webhooks(
                urls: ["\(url)/hook/first"],
                secrets: ["whsec_1"]
            )
            options.others[0].webhooks = StandInOptions.Webhooks(
                urls: ["\(url)/hook/games"],
                secrets: ["whsec_2"]
            )
            try await Self.run(options) { first, games in
                let customer = try await first.customer()
                let other = try await games.customer()
                let told = try await eventually("a webhook of each") {
                    let told = received.withLock { $0 }
                    return Set(told.map { $0.path }).count == 2 ? told : nil
                }
                for one in told {
                    let (own, foreign) =
                        one.path == "/hook/games" ? (other, customer) : (customer, other)
                    #expect(one.body.contains(own) && !one.body.contains(foreign))
                }
            }
        }
    }
}

extension StandInUnderTest {
    /// Runs a body with a client that has another key at the same address.
    fileprivate func with(
        _ text: String,
        of server: StandInServer,
        _ body: (StandInUnderTest) async throws -> Void
    ) async throws {
        let key = try StripeKey(text, environment: .sandbox)
        let client = StripeClient(
            StripeClient.Settings(baseURL: url, timeout: .seconds(60)),
            logger: Self.quiet
        ) { key }
        let other = StandInUnderTest(server: server, client: client, url: url, key: text)
        do { try await body(other) } catch {
            await client.shutDown()
            throw error
        }
        await client.shutDown()
    }

    /// Reads an object or a list as it is sent.
    fileprivate func get(_ path: String) async throws -> StoreResponse {
        try await StoreHTTP.send(
            .GET,
            "\(url)/v1/\(path)",
            headers: [("authorization", "Bearer \(key)")]
        )
    }
}

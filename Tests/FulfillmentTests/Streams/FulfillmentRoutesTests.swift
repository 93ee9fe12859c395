import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct FulfillmentRoutesTests {
    @Test func theQueueAsADocumentIsWhatItsTypeSays() async throws {
        try await StreamServer.run { server in
            let empty = try await server.send(.GET, Routes.queueTransactions)
            #expect(empty.status == 200)
            #expect(
                try JSONDecoder().decode(QueueResponse.self, from: empty.body)
                    == QueueResponse(revision: 0, transactions: [])
            )
            try await server.store.arrive(.sample(1), .sample(2), .sample(3))
            try await server.store.finish(2)
            let (_, body) = try await server.send(.GET, Routes.queueTransactions)
            let response = try JSONDecoder().decode(QueueResponse.self, from: body)
            #expect(response.revision == 4)
            #expect(response.transactions.map(\.transaction) == [.sample(1), .sample(3)])
            #expect(response.transactions.map(\.revision) == [1, 3])
        }
    }

    @Test func aFinishAnswersTheSameTwiceAndEachRefusalHasItsCode() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(
                .sample(1),
                .sample(2, version: 1, state: .purchasing),
                .sample(3, state: .deferred),
                .sample(4, plan: [.webhook(url: "https://merchant.example")]),
                .sample(5, account: "bob")
            )
            for _ in 1...2 {
                let id = TransactionID(number: 1)
                let (status, body) = try await server.send(.POST, Routes.finish(id))
                #expect(status == 200)
                let response = try JSONDecoder().decode(FinishResponse.self, from: body)
                #expect(response == FinishResponse(transactionID: id, finishedAt: startOfTime))
                server.store.clock.advance(by: .seconds(10))
            }
            let refusals: [(String, Int, String)] = [
                ("2", 409, "transaction_purchasing"), ("3", 409, "transaction_deferred"),
                ("4", 409, "transaction_not_delivered"), ("5", 404, "transaction_unknown"),
                ("6", 404, "transaction_unknown"), ("x", 404, "transaction_unknown"),
            ]
            for (id, status, code) in refusals {
                let answer = try await server.send(.POST, "\(Routes.transactions)/\(id)/finish")
                let problem = try JSONDecoder().decode(Problem.self, from: answer.body)
                #expect(answer.status == status)
                #expect(problem.code == code)
                #expect(problem.status == status)
            }
        }
    }

    @Test func theHistoryHasEveryTransactionOnceWhateverThePageItIsOn() async throws {
        try await StreamServer.run { server in
            let count = HistoryRoutes.pageSize + 5
            for number in 1...count { try await server.store.arrive(.sample(Int64(number))) }
            try await server.store.arrive(.sample(1_000, account: "bob"))
            try await server.store.finish(2)
            var seen: [QueueChanged] = []
            var next: Int64? = 0
            var pages = 0
            while let after = next {
                let answer = try await server.send(.GET, "\(Routes.history)?after=\(after)")
                let page = try JSONDecoder().decode(HistoryResponse.self, from: answer.body)
                seen += page.transactions
                next = page.next
                pages += 1
            }
            #expect(pages == 2)
            #expect(Set(seen.map(\.transaction.id.number)) == Set(1...Int64(count)))
            #expect(seen.count == count)
            #expect(seen.last?.finishedAt != nil, "What changed last comes last.")
            let malformed = try await server.send(.GET, "\(Routes.history)?after=x")
            #expect(malformed.status == 400)
        }
    }

    @Test func whatTheAccountOwnsComesWithTheTransactionsThatGaveIt() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(
                .sample(1, plan: [.entitlement]),
                .sample(2, plan: [.credit(unit: "coins", amount: 5)]),
                .sample(3, account: "bob", plan: [.entitlement])
            )
            try await server.store.finish(1)
            let answer = try await server.send(.GET, Routes.entitlementTransactions)
            let page = try JSONDecoder().decode(HistoryResponse.self, from: answer.body)
            #expect(page.transactions.map(\.transaction.id.number) == [1])
            #expect(page.transactions.first?.finishedAt != nil)
            #expect(page.next == nil)
        }
    }

    @Test func whatAnAccountOwnsComesInPagesTheNewestPurchasesFirst() async throws {
        try await StreamServer.run { server in
            let count = Int64(EntitlementReadStore.pageSize + 5)
            try await server.store.arrive((1...count).map { Transaction.sample($0) })
            try await server.store.arrive(.sample(1_000, account: "bob"))
            func page(_ query: String) async throws -> EntitlementsResponse {
                let answer = try await server.send(.GET, Routes.entitlements + query)
                return try JSONDecoder().decode(EntitlementsResponse.self, from: answer.body)
            }
            let newest = try await page("")
            let numbers = newest.entitlements.map(\.originalTransactionID.number)
            #expect(numbers == Array(6...count))
            let next = try #require(newest.next)
            let oldest = try await page("?after=\(next)")
            #expect(oldest.entitlements.map(\.originalTransactionID.number) == Array(1...5))
            #expect(oldest.next == nil)
            let malformed = try await server.send(.GET, "\(Routes.entitlements)?after=x")
            #expect(malformed.status == 400)
        }
    }

    @Test func entitlementsAndCreditsAreTheAccountsOwn() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(
                .sample(1, plan: [.entitlement, .credit(unit: "coins", amount: 5)])
            )
            let entitlements = try await server.send(.GET, Routes.entitlements)
            let credits = try await server.send(.GET, Routes.credits)
            #expect(
                try JSONDecoder().decode(EntitlementsResponse.self, from: entitlements.body)
                    .entitlements.map(\.originalTransactionID.number) == [1]
            )
            #expect(
                try JSONDecoder().decode(CreditsResponse.self, from: credits.body).balances
                    == ["coins": 5]
            )
            let others = try await server.send(.GET, Routes.credits, account: "bob")
            #expect(
                try JSONDecoder().decode(CreditsResponse.self, from: others.body).balances.isEmpty
            )
        }
    }
}

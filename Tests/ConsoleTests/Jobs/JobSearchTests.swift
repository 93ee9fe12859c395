import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import StoreAPI
import Testing

@testable import Console

/// Jobs by their ids and among the acts, also while the whole store is away.
@Suite(.timeLimit(.minutes(10)))
struct JobSearchTests {
    @Test func aJobIsFoundByItsIDAndAmongTheActs() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await board.begin(JobFolderInTests.proof()).id
            work.goOn.yield()
            try await board.wait(for: .done, of: id, .proof)
            try await ConsoleUnderTest.run(board: board) { console in
                let (cookie, _) = try await console.signIn()
                let found = try await console.send(.get, "/search?q=+\(id)", cookie: cookie)
                #expect(found.headers[.location] == "/proofs/\(id)")
                let acts = try await console.send(.get, "/acts?kind=jobs", cookie: cookie)
                #expect(acts.status == .ok)
                let page = String(buffer: acts.body)
                #expect(page.contains("href=\"/proofs/\(id)\"") && page.contains("began it"))
            }
        }
    }

    @Test func whoMayNotSeeJobsFindsNone() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await board.begin(JobFolderInTests.proof()).id
            work.goOn.yield()
            try await board.wait(for: .done, of: id, .proof)
            try await ConsoleUnderTest.run(scopes: [.support], board: board) { console in
                let (cookie, _) = try await console.signIn()
                let found = try await console.send(.get, "/search?q=\(id)", cookie: cookie)
                #expect(found.status == .serviceUnavailable, "the databases are asked, and away")
                let acts = try await console.send(.get, "/acts?kind=jobs", cookie: cookie)
                #expect(acts.status == .forbidden)
            }
        }
    }

    @Test(arguments: [AdministratorScope.operator, .merchandiser])
    func eachFindsTheJobsWhosePagesOpen(scope: AdministratorScope) async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let raise = try await JobFolderInTests.countedRaise(on: board, work)
            let proof = try await board.begin(JobFolderInTests.proof()).id
            work.goOn.yield()
            try await board.wait(for: .done, of: proof, .proof)
            let isOperator = scope == .operator
            let (own, other) =
                isOperator
                ? ("/proofs/\(proof)", "/raises/\(raise)")
                : ("/raises/\(raise)", "/proofs/\(proof)")
            let (ownID, otherID) = isOperator ? (proof, raise) : (raise, proof)
            try await ConsoleUnderTest.run(scopes: [scope, .support], board: board) { console in
                let (cookie, _) = try await console.signIn()
                let found = try await console.send(.get, "/search?q=\(ownID)", cookie: cookie)
                #expect(found.headers[.location] == own)
                #expect(try await console.send(.get, own, cookie: cookie).status == .ok)
                let hidden = try await console.send(.get, "/search?q=\(otherID)", cookie: cookie)
                #expect(hidden.headers[.location] == nil)
                #expect(try await console.send(.get, other, cookie: cookie).status == .forbidden)
                let acts = try await console.send(.get, "/acts?kind=jobs", cookie: cookie)
                let page = String(buffer: acts.body)
                #expect(page.contains("href=\"\(own)\"") && !page.contains(other))
            }
        }
    }
}

import ClockAndIDs
import EventTypes
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import OperatorCore
import StoreAPI
import Testing

@testable import Console

/// Proofs that were made elsewhere, as the command line hands them over.
@Suite(.timeLimit(.minutes(1)))
struct ProofReportTests {
    private static func send(
        _ body: String,
        _ token: String?,
        to console: ConsoleUnderTest
    ) async throws -> TestResponse {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let token { headers[.authorization] = "Bearer \(token)" }
        return try await console.client.executeRequest(
            uri: ProofHandover.path,
            method: .post,
            headers: headers,
            body: ByteBuffer(string: body)
        )
    }

    private static func proof(_ id: EventID) throws -> String {
        let proof = ProofHandover(id: id, report: VerificationReport(["payments"]))
        return String(decoding: try JSONEncoder().encode(proof), as: UTF8.self)
    }

    @Test func aProofOfTheCommandLineIsKeptOnceAndShown() async throws {
        try await JobFolderInTests.run { folder in
            let board = try folder.board(JobWorkInTests())
            let id = EventID(time: .wallClock())
            let body = try Self.proof(id)
            // It changes nothing in the store.
            try await ConsoleUnderTest.run(isReadOnly: true, isWhole: true, board: board) {
                console in
                let token = try await console.token()
                for _ in 1...2 {
                    let answer = try await Self.send(body, token, to: console)
                    #expect(answer.status == .created)
                }
                let (cookie, _) = try await console.signIn()
                let page = try await console.send(.get, "/proofs/\(id)", cookie: cookie)
                let text = String(buffer: page.body)
                #expect(text.contains("0 differences in 0 rows"))
                #expect(text.contains("made it outside this console"))
            }
            #expect(await board.jobs(of: .proof).map(\.id) == [id])
            let restarted = try folder.board(JobWorkInTests())
            #expect(await restarted.job(id, of: .proof)?.state == .done)
        }
    }

    @Test func whoMayNotProveHandsNothingOver() async throws {
        try await JobFolderInTests.run { folder in
            let board = try folder.board(JobWorkInTests())
            let body = try Self.proof(EventID(time: .wallClock()))
            let scopes: [AdministratorScope] = [.read, .support, .merchandiser]
            try await ConsoleUnderTest.run(scopes: scopes, isWhole: true, board: board) {
                console in
                let right = try await console.token()
                let other = try await console.token(audience: "counterfoil")
                let cases: [(token: String?, status: Int)] = [
                    (right, 403), (other, 401), ("x", 401),
                    // Without a token it may come from any page.
                    (nil, 403),
                ]
                for (token, status) in cases {
                    let answer = try await Self.send(body, token, to: console)
                    #expect(answer.status.code == status, "\(token ?? "none")")
                }
            }
            #expect(await board.allJobs.isEmpty)
        }
    }

    @Test func whatIsNoProofOrCannotBeKeptIsRefused() async throws {
        let body = try Self.proof(EventID(time: .wallClock()))
        try await JobFolderInTests.run { folder in
            let board = try folder.board(JobWorkInTests())
            try await ConsoleUnderTest.run(isWhole: true, board: board) { console in
                let token = try await console.token()
                for text in ["", "{}", body.replacing("payments", with: "\\u0000")] {
                    let answer = try await Self.send(text, token, to: console)
                    #expect(answer.status == .badRequest, "\(text)")
                }
            }
            #expect(await board.allJobs.isEmpty)
        }
        // A console without a folder.
        try await ConsoleUnderTest.run(isWhole: true) { console in
            let answer = try await Self.send(body, try await console.token(), to: console)
            #expect(answer.status == .conflict)
        }
    }
}

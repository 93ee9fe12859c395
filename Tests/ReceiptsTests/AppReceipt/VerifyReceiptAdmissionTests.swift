import EventTypes
import Foundation
import Logging
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Messaging
import ReceiptValidation
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Receipts

/// The limits of `verifyReceipt`, which is open to everybody, and the roots it trusts.
@Suite(.timeLimit(.minutes(10))) struct VerifyReceiptAdmissionTests {
    private let chain: SigningChain
    private let keys: TokenKeys

    init() throws {
        chain = try TestChain().signingChain()
        keys = try TokenKeys()
    }

    private func body(_ receipt: [UInt8], padding: Int = 0) -> Data {
        let padding = String(repeating: " ", count: padding)
        return Data("{\"receipt-data\":\"\(Data(receipt).base64EncodedString())\"\(padding)}".utf8)
    }

    /// Takes all places for large requests while the body runs.
    private func withoutPlaces<R: Sendable>(
        _ admission: VerifyReceiptAdmission,
        _ body: @Sendable @escaping () async throws -> R
    ) async throws -> R {
        func take(_ count: Int) async throws -> R {
            guard count > 0 else { return try await body() }
            return try await admission.large { try await take(count - 1) }
        }
        return try await take(VerifyReceiptAdmission.largeMax)
    }

    @Test func aSmallReceiptOfAnAccountThatHasBoughtMuchIsALargeOne() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1))
            let small = body(try await store.receipt())
            let handler = store.handler()
            #expect(
                try await withoutPlaces(handler.admission) {
                    try await handler.answer(small) { $0.status }
                } == 0
            )
            let many = (2...Int64(VerifyReceiptHandler.smallCount + 1)).map { purchased($0) }
            try await store.events.apply(try many.map { try .of(.transactionPurchased, $0) })
            #expect(
                try await withoutPlaces(handler.admission) {
                    try await handler.answer(small) { $0.status }
                } == VerifyReceiptStatus.unavailable.rawValue
            )
            let answer = try await handler.answer(small) { $0 }
            #expect(answer.latestReceiptInfo?.count == VerifyReceiptHandler.smallCount + 1)
            #expect(try await withoutPlaces(handler.admission) { true }, "All places are free.")
        }
    }

    @Test func aLargeBodyTakesAPlace() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1))
            let large = body(try await store.receipt(), padding: VerifyReceiptHandler.smallLength)
            let handler = store.handler()
            #expect(try await handler.answer(large) { $0.status } == 0)
            #expect(
                try await withoutPlaces(handler.admission) {
                    try await handler.answer(large) { $0.status }
                } == VerifyReceiptStatus.unavailable.rawValue
            )
        }
    }

    @Test func bodiesThatComeSlowlyHoldUpNobody() async throws {
        let store = try AppReceiptsUnderTest.withoutDatabase(chain: chain)
        let question = AppReceiptQuestion()
        // A receipt without purchases needs no database.
        let receipt = try store.reader.receipt(
            of: AppReceiptsUnderTest.alice,
            question,
            entries: []
        )
        let large = body(receipt, padding: VerifyReceiptHandler.smallLength)
        let handler = store.handler()
        let router = storeRouter(
            authenticator: try keys.authenticator(),
            readiness: [],
            logger: Logger(label: "test")
        )
        VerifyReceiptRoutes(handler: handler).add(to: router)
        let application = Application(responder: router.buildResponder())
        try await application.test(.live) { http in
            let port = try #require(http.port)
            // More requests than there are places, each with a large body that does not end.
            let piece = String(repeating: " ", count: VerifyReceiptHandler.smallLength + 1)
            var slow: [RawConnection] = []
            for _ in 0..<(2 * VerifyReceiptAdmission.largeMax) {
                let connection = try RawConnection(port: port)
                connection.send(
                    "POST \(Routes.verifyReceipt) HTTP/1.1\r\nHost: store\r\n"
                        + "Content-Length: 1000000\r\n\r\n" + piece
                )
                slow.append(connection)
            }
            let sent = slow.count * piece.utf8.count
            try await eventually("what was sent to be read") {
                handler.admission.bytes >= sent ? true : nil
            }
            try await http.execute(
                uri: Routes.verifyReceipt,
                method: .post,
                body: ByteBuffer(bytes: large)
            ) { response in
                let object = try JSONSerialization.jsonObject(
                    with: Data(Array(buffer: response.body))
                )
                #expect((object as? [String: Any])?["status"] as? Int == 0)
            }
            // A closed connection releases the space it has taken.
            slow = []
            try await eventually("the room to be free") {
                handler.admission.bytes == 0 ? true : nil
            }
        }
    }

    @Test func aReceiptOfBeforeANewRootIsBelievedWhileThatRootIsNamed() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { before in
            try await before.buy(purchased(1))
            let receipt = body(try await before.receipt())
            let after = try AppReceiptsUnderTest(
                before.events.client,
                chain: try TestChain().signingChain()
            )
            #expect(
                try await after.handler().answer(receipt) { $0.status }
                    == VerifyReceiptStatus.notAuthenticated.rawValue
            )
            let believing = after.handler(formerRoots: [chain.rootCertificate])
            let answer = try await believing.answer(receipt) { $0 }
            #expect(answer.status == 0)
            // The part that it adds is signed by the present chain.
            let latest = try #require(answer.latestReceipt.flatMap { Data(base64Encoded: $0) })
            _ = try after.validator().appReceipt(latest)
        }
    }

    @Test func thereIsRoomForSoManyBytesAndNoMore() throws {
        let admission = VerifyReceiptAdmission()
        try admission.take(bytes: VerifyReceiptAdmission.bytesMax)
        #expect(throws: VerifyReceiptStatus.unavailable) { try admission.take(bytes: 1) }
        admission.give(bytes: 1)
        try admission.take(bytes: 1)
        var rooms = [try admission.room(forAnswer: VerifyReceiptAdmission.answerBytesMax)]
        #expect(throws: VerifyReceiptStatus.unavailable) { try admission.room(forAnswer: 1) }
        rooms = []
        #expect(admission.answerBytes == 0)
        _ = rooms
    }
}

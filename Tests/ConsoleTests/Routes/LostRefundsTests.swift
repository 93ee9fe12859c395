import EventTypes
import Foundation
import Logging
import OperatorCore
import StoreAPI
import Testing

@testable import Console

@Suite struct LostRefundsTests {
    private static let logger = Logger(label: "test")

    private static func refund(
        of number: Int64 = 7,
        key: String = "a-key",
        because reason: String = "late"
    ) -> SentRefund {
        SentRefund(
            transactionID: TransactionID(number: number),
            key: IdempotencyKey(unchecked: key),
            request: RefundRequest(
                amount: Money(minorUnits: 500, currency: Currency(unchecked: "USD")),
                reason: ActReason(rawValue: reason)
            )
        )
    }

    @Test func aRefundWithoutAnAnswerIsRepeatedAsItWas() throws {
        let lost = LostRefunds(logger: Self.logger)
        let refund = Self.refund()
        #expect(lost.refund(of: refund.transactionID) == nil)
        #expect(try lost.begin(refund))
        #expect(try lost.repeated(refund.key, of: refund.transactionID) == refund)
        #expect(try !lost.begin(refund), "it is sent again")
        #expect(lost.refund(of: TransactionID(number: 8)) == nil)
        lost.forget(refund)
        #expect(lost.refund(of: refund.transactionID) == nil)
        #expect(throws: ConsoleProblem.self) {
            try lost.repeated(refund.key, of: refund.transactionID)
        }
    }

    @Test func anotherRefundOfThePurchaseWaitsForTheAnswer() throws {
        let lost = LostRefunds(logger: Self.logger)
        let refund = Self.refund()
        _ = try lost.begin(refund)
        for other in [Self.refund(key: "another"), Self.refund(because: "too late")] {
            let problem = #expect(throws: ConsoleProblem.self) { try lost.begin(other) }
            #expect(problem?.status == 409)
            lost.forget(other)
        }
        #expect(lost.refund(of: refund.transactionID) == refund)
        #expect(try lost.begin(Self.refund(of: 8)))
    }

    @Test func aRefundWithoutAnAnswerOutlivesARestart() throws {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "refunds-\(UUID().uuidString)"
        ).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = try StateFolder(path, "refunds")
        let refund = Self.refund()
        _ = try LostRefunds(in: folder, logger: Self.logger).begin(refund)
        let again = LostRefunds(in: folder, logger: Self.logger)
        #expect(again.refund(of: refund.transactionID) == refund)
        #expect(try !again.begin(refund))
        again.forget(refund)
        let last = LostRefunds(in: folder, logger: Self.logger)
        #expect(last.refund(of: refund.transactionID) == nil)
    }

    @Test func thereAreNeverTooMany() throws {
        let lost = LostRefunds(logger: Self.logger)
        for number in 1...Int64(LostRefunds.countMax) {
            _ = try lost.begin(Self.refund(of: number))
        }
        let last = Int64(LostRefunds.countMax + 1)
        #expect(throws: ConsoleProblem.self) { try lost.begin(Self.refund(of: last)) }
        #expect(lost.refund(of: TransactionID(number: 1)) != nil)
    }

    @Test(
        arguments: [
            (409, "refund_failed", true), (409, "nothing_to_refund", true),
            (422, "idempotency_key_reused", false), (401, "unauthorized", false),
            (403, "forbidden", false), (404, nil, false), (503, "overloaded", false),
        ] as [(Int, String?, Bool)]
    )
    func onlyTheServicesOwnJudgementSettlesARefund(
        status: Int,
        problem: String?,
        isSettled: Bool
    ) {
        let error = OperatorError(.failed, "no", status: status, problemCode: problem)
        #expect(error.isVerdictOnRefund == isSettled)
    }
}

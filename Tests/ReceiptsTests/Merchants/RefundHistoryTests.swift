import EventTypes
import Testing

@testable import Receipts

@Suite(.timeLimit(.minutes(10))) struct RefundHistoryTests {
    @Test func theRefundHistoryHasWhatIsRefundedNow() async throws {
        try await ServerAPIUnderTest.with(TestChain(), TestServers()) { store in
            let path = "v2/refund/lookup/1000001"
            try await store.buy(purchased(1_000_001), purchased(1_000_002))
            try await store.receipts.apply([
                .of(
                    .transactionRefunded,
                    purchased(1_000_001, version: 3, refunds: [.sample(1, 100)])
                ),
                .of(
                    .transactionRefunded,
                    purchased(
                        1_000_002,
                        version: 3,
                        revokedAt: TestChain.now.advanced(by: .seconds(-1))
                    )
                ),
            ])
            #expect(try await store.walk(path) == [["1000001", "1000002"]])
            #expect(
                try await store.walk("v2/history/1000001?revoked=true").flatMap { $0 }
                    == ["1000002"],
                "The refund of a part has revoked nothing."
            )
            try await store.receipts.apply([
                .of(
                    .transactionRefundReversed,
                    purchased(1_000_002, version: 4, refunds: [.sample(1, 297, isReversed: true)])
                )
            ])
            #expect(try await store.walk(path) == [["1000001"]])
            #expect(try await store.payload(1_000_002).revocationType == nil)
        }
    }
}

import EventTypes
import TestSupport
import Testing

@testable import Receipts

/// Receipts of a store whose clock was set a year ahead, on machines whose clocks were not.
@Suite(.timeLimit(.minutes(10))) struct TwoClocksTests {
    private static let year = Duration.seconds(365 * 86_400)

    @Test func receiptsHaveTheStoresDatesAndTokensOfTodayAreAccepted() async throws {
        try await ServerAPIUnderTest.with(
            TestChain(),
            try TestServers(),
            storeAhead: Self.year
        ) { api in
            try await api.buy(purchased(1))
            // The token is of today and lives for minutes, and the certificates end within the year.
            let receipt = try await api.payload(1)
            #expect(receipt.signedDate == TestChain.now.advanced(by: Self.year))
            #expect(receipt.purchaseDate == purchased(1).purchasedAt)
        }
    }

    @Test func certificatesEndByTheMachinesClockNotByTheStores() throws {
        let chain = try TestChain().signingChain()
        let late = ReceiptSigner(
            chain: chain,
            environment: .sandbox,
            at: TestChain.validUntil.advanced(by: .seconds(1))
        )
        let error = #expect(throws: ReceiptsError.self) {
            try late.sign(purchased(1), at: TestChain.now)
        }
        #expect(error?.code == .chainNotValid)
        let signed = try ReceiptSigner(chain: chain, environment: .sandbox)
            .sign(purchased(1), at: TestChain.validUntil.advanced(by: Self.year))
        #expect(signed.signedAt == TestChain.validUntil.advanced(by: Self.year))
    }
}

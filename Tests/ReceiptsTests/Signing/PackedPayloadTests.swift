import EventTypes
import Foundation
import Testing

@testable import Receipts

@Suite struct PackedPayloadTests {
    private func payload(_ transaction: Transaction, token: String? = nil) throws -> [UInt8] {
        try SignedTransactionPayload(
            transaction,
            SigningContext(appTransactionID: 700_000_000_000_000_001, appAccountToken: token),
            environment: .sandbox,
            signedAt: TestChain.now
        ).encoded()
    }

    @Test func aPayloadIsStoredInLessThanHalf() throws {
        let signed = try payload(purchased())
        let packed = PackedPayload.packed(signed)
        #expect(packed.count * 2 < signed.count)
        #expect(try PackedPayload.unpacked(packed) == signed)
    }

    @Test func anyPayloadUnpacksAsItWas() throws {
        let refunded = purchased(
            version: 3,
            type: .nonConsumable,
            revokedAt: TestChain.now,
            refunds: [.sample(1, 100, revokes: true)]
        )
        for signed in try [
            payload(refunded), payload(purchased(refunds: [.sample(1, 1)]), token: "7c9e6679"),
            Array("{}".utf8), [], Array("{\"expiresDate\":1,\"price\":\",\\\"price\\\":\"}".utf8),
        ] {
            #expect(try PackedPayload.unpacked(PackedPayload.packed(signed)) == signed)
        }
    }

    /// Rows that were stored by an earlier version have to be readable for ever.
    @Test func whatWasStoredCanAlwaysBeRead() throws {
        let stored = """
            \u{3}700000000000000001\u{4}com.example.app\u{5}USD\u{6}1795226395000\u{8}2000000000001\
            \u{9}2970\u{A}coins.100\u{B}1795226395000\u{C}3\u{12}1795226400000\u{13}USA\u{14}143441\
            \u{15}2000000000001\u{16}Consumable"}
            """
        #expect(PackedPayload.packed(try payload(purchased())) == Array(stored.utf8))
        #expect(try PackedPayload.unpacked(Array(stored.utf8)) == payload(purchased()))
    }
}

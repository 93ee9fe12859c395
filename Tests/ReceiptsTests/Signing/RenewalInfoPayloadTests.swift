import EventTypes
import Foundation
import Testing

@testable import Receipts

@Suite struct RenewalInfoPayloadTests {
    @Test func itSaysWhatApplesModelReadsAndIsVerifiedAsATransactionIs() throws {
        let chain = try TestChain().signingChain()
        let payload = RenewalInfoPayload(
            originalTransactionId: TransactionID(number: 1_000_001),
            autoRenewProductId: ProductID(unchecked: "plus.year"),
            productId: ProductID(unchecked: "plus.month"),
            autoRenewStatus: 1,
            signedDate: TestChain.now,
            environment: .sandbox,
            renewalDate: TestChain.now.advanced(by: .seconds(86_400)),
            currency: Currency(unchecked: "USD"),
            renewalPrice: 9990,
            eligibleWinBackOfferIds: ["w/1"]
        )
        let signer = ReceiptSigner(chain: chain, environment: .sandbox)
        let jws = try signer.compactJWS(of: try payload.encoded(), signedAt: payload.signedDate)
        let bytes = try ReceiptVerifier(root: chain.rootCertificate).payload(of: jws)
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {"autoRenewProductId":"plus.year","autoRenewStatus":1,"currency":"USD",\
                "eligibleWinBackOfferIds":["w/1"],"environment":"Sandbox",\
                "originalTransactionId":"1000001","productId":"plus.month",\
                "renewalDate":1795312800000,"renewalPrice":9990,"signedDate":1795226400000}
                """
        )
        #expect(try JSONDecoder().decode(RenewalInfoPayload.self, from: Data(bytes)) == payload)
    }

    @Test func nothingIsSignedOutsideTheValidityOfTheCertificates() throws {
        let signer = ReceiptSigner(chain: try TestChain().signingChain(), environment: .sandbox)
        let late = TestChain.validUntil.advanced(by: .seconds(1))
        let error = #expect(throws: ReceiptsError.self) {
            try signer.compactJWS(of: Array("{}".utf8), signedAt: late)
        }
        #expect(error?.code == .chainNotValid)
    }
}

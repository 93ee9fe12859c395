import StoreHarness
import Testing

@testable import devstore

@Suite struct SampleCodesTests {
    @Test(
        arguments: [(400, "offer_unknown"), (429, nil), (502, nil), (503, "try_again")]
            as [(Int, String?)]
    )
    func theCodeIsAskedForAgainWhileItsOfferMayBeOnItsWay(status: Int, code: String?) throws {
        let isThere = try SampleCodes.isThere(after: status, code: code)
        #expect(!isThere)
    }

    @Test(arguments: [(201, nil), (409, "code_taken")] as [(Int, String?)])
    func aCodeThatWasMadeBeforeIsThere(status: Int, code: String?) throws {
        let isThere = try SampleCodes.isThere(after: status, code: code)
        #expect(isThere)
    }

    @Test(
        arguments: [(400, "campaign_invalid"), (401, nil), (403, "scope_missing"), (500, nil)]
            as [(Int, String?)]
    )
    func anAnswerThatCannotChangeStopsAtOnce(status: Int, code: String?) {
        #expect(throws: StoreFault.self) {
            try SampleCodes.isThere(after: status, code: code)
        }
    }
}

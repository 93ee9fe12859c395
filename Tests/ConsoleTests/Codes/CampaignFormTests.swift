import EventTypes
import StoreAPI
import Testing

@testable import Console

@Suite struct CampaignFormTests {
    private static let reason = ActReason(rawValue: "spring")

    private func request(_ text: String) throws -> CodeCampaignRequest {
        try CampaignForm.request(
            in: try #require(FormFields(text)),
            because: try #require(Self.reason)
        )
    }

    @Test func emptyFieldsMakeOneTimeCodesWithoutAnEnd() throws {
        let request = try request(
            "app=com.example.app&product=club&offer=spring&count=100&word=&expires="
        )
        #expect(
            request
                == CodeCampaignRequest(
                    bundleID: BundleID(unchecked: "com.example.app"),
                    productID: ProductID(unchecked: "club"),
                    offerID: OfferID(unchecked: "spring"),
                    count: 100,
                    reason: Self.reason
                )
        )
    }

    @Test func aWordMakesACustomCode() throws {
        let request = try request(
            "app=a&product=club&offer=spring&count=5&word=SPRING&expires=2027-06-30T22:00:00Z"
        )
        #expect(request.word == "SPRING")
        #expect(request.expiresAt == StoreTime("2027-06-30T22:00:00Z"))
    }

    @Test(arguments: [
        "product=club&offer=spring&count=1", "app=a&offer=spring&count=1",
        "app=a&product=club&count=1", "app=a&product=club&offer=spring",
        "app=a&product=club&offer=spring&count=0", "app=a&product=club&offer=spring&count=many",
        "app=a&product=club&offer=spring&count=1&expires=soon",
    ])
    func whatCannotBeReadIsRefused(text: String) {
        #expect(throws: ConsoleProblem.self) { try request(text) }
    }
}

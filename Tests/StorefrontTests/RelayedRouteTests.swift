import HTTPTypes
import Testing

@testable import storefront

@Suite struct RelayedRouteTests {
    private func route(_ path: String) throws -> RelayedRoute {
        try #require(RelayedRoute.all.first { $0.path == path })
    }

    @Test func aParameterIsPutIntoTheStoresPath() throws {
        let route = try route("/api/transactions/:id/content/:product")
        let target = try route.target(
            parameters: ["id": "42", "product": "com.example.levels"],
            query: ["token": "x"],
            storefront: "USA"
        )
        #expect(target == "/v1/transactions/42/content/com.example.levels")
    }

    @Test(arguments: ["", ".", "..", "a/b", "a%2Fb", "a?b", "a b", "é", "a#b", "../admin"])
    func whatIsNoIDLeadsNowhere(_ id: String) throws {
        let route = try route("/api/transactions/:id/finish")
        #expect(throws: StorefrontProblem.notFound) {
            try route.target(parameters: ["id": id], query: [:], storefront: "USA")
        }
    }

    @Test func theRegionComesFromTheSessionAndNotFromThePage() throws {
        let target = try route("/api/products").target(
            parameters: [:],
            query: ["storefront": "FRA", "language": "en-US&storefront=FRA"],
            storefront: "JPN"
        )
        #expect(target == "/v1/products?language=en%2DUS%26storefront%3DFRA&storefront=JPN")
    }

    @Test func aBuyerAsksForTheIntroductoryOfferOfAGroup() throws {
        let route = try route("/api/introductory-offers/:group")
        let target = try route.target(parameters: ["group": "club"], query: [:], storefront: "FRA")
        #expect(target == "/v1/introductory-offers/club")
    }

    @Test func aSubscriberAnswersTheQuestionAboutAPrice() throws {
        let route = try route("/api/subscriptions/:id/price-increase")
        #expect(route.method == .put)
        #expect(route.service == .payments)
        let target = try route.target(parameters: ["id": "42"], query: [:], storefront: "USA")
        #expect(target == "/v1/subscriptions/42/price-increase")
    }

    @Test func aSubscriberChoosesAnotherCard() throws {
        let route = try route("/api/subscriptions/:id/payment-method")
        #expect(route.method == .put)
        #expect(route.service == .payments)
        let target = try route.target(parameters: ["id": "42"], query: [:], storefront: "USA")
        #expect(target == "/v1/subscriptions/42/payment-method")
    }

    @Test func noPathOfAnAdministratorIsPassedOn() {
        #expect(RelayedRoute.all.allSatisfy { $0.storePath.hasPrefix("/v1/") })
        #expect(!RelayedRoute.all.contains { $0.storePath.contains("admin") })
        #expect(!RelayedRoute.requestHeaders.contains("cookie"))
        #expect(!RelayedRoute.requestHeaders.contains("authorization"))
        #expect(!RelayedRoute.answerHeaders.contains("set-cookie"))
    }
}

import ContractSupport
import EventTypes
import Testing

@testable import Fulfillment

@Suite struct FulfillmentContractTests {
    @Test func theContractNamesEveryRouteAndNoOther() async throws {
        let comparison = try await RouteComparison(of: .fulfillment, composing: composeFulfillment)
        #expect(comparison.unwritten == [], "not in the contract")
        #expect(comparison.unanswered == [], "not in the service")
        #expect(comparison.scopedOtherwise == [], "not in AdministratorAccess as in the contract")
    }
}

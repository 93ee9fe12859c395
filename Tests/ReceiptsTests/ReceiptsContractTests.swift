import ContractSupport
import EventTypes
import Testing

@testable import Receipts

@Suite struct ReceiptsContractTests {
    @Test func theContractNamesEveryRouteAndNoOther() async throws {
        let comparison = try await RouteComparison(of: .receipts, composing: composeReceipts)
        #expect(comparison.unwritten == [], "not in the contract")
        #expect(comparison.unanswered == [], "not in the service")
        #expect(comparison.scopedOtherwise == [], "not in AdministratorAccess as in the contract")
    }
}

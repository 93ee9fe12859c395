import EventTypes
import OperatorCore
import StoreAPI
import Testing

@testable import Operator

@Suite struct RefundRequestOptionsTests {
    private let id = TransactionID(number: 7)

    private var transaction: Transaction {
        Transaction(
            id: id,
            originalID: id,
            reason: .purchase,
            version: 1,
            state: .purchased,
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: "com.example.coins"),
            productVersion: 1,
            productType: .consumable,
            quantity: 1,
            storefront: Storefront(unchecked: "USA"),
            price: Money(minorUnits: 99, currency: Currency(unchecked: "USD")),
            applicationUsername: nil,
            deliveryPlan: [.app],
            requestedAt: StoreTime(millisecondsSinceEpoch: 0)
        )
    }

    private func request(_ number: Int) -> RequestedRefund {
        RequestedRefund(
            number: number,
            of: transaction,
            because: .unsatisfied,
            at: StoreTime(millisecondsSinceEpoch: Int64(number))
        )
    }

    private func number(_ count: Int, toDecide isDecision: Bool) throws(OperatorError) -> Int {
        try RefundRequestOptions.number(
            among: (0..<count).map { request($0 + 1) },
            of: id,
            toDecide: isDecision
        )
    }

    @Test func aDecisionWithoutANumberMeansTheOnlyRequest() throws {
        #expect(try number(1, toDecide: true) == 1)
        let several = #expect(throws: OperatorError.self) { try number(2, toDecide: true) }
        #expect(several?.code == .usage)
        #expect(try number(2, toDecide: false) == 2)
        let none = #expect(throws: OperatorError.self) { try number(0, toDecide: true) }
        #expect(none?.code == .failed)
    }

    @Test func aReportThatCannotBeReadHidesNoRequest() {
        let answer = RefundRequestResponse(
            request: request(1),
            act: nil,
            refundState: nil,
            transaction: transaction
        )
        let error = OperatorError(.unavailable, "receipts cannot be reached")
        let text = RefundRequestReport.text(of: answer, .failure(error))
        #expect(text.contains("Request 1 for a refund of 7"))
        #expect(text.hasSuffix("cannot be read: receipts cannot be reached"))
        #expect(!RefundRequestReport.text(of: answer, .success(nil)).contains("cannot be read"))
    }
}

import EventTypes
import StoreAPI
import Testing

@testable import Console

@Suite struct RefundRequestPageTests {
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let price = Money(minorUnits: 99, currency: Currency(unchecked: "USD"))
    private static let script = "<script>alert(1)</script>"

    private static var transaction: Transaction {
        let id = TransactionID(number: 1_000_001)
        return Transaction(
            id: id,
            originalID: id,
            reason: .purchase,
            version: 2,
            state: .purchased,
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: "com.example.coins"),
            productVersion: 1,
            productType: .consumable,
            quantity: 1,
            storefront: Storefront(unchecked: "USA"),
            price: price,
            applicationUsername: nil,
            deliveryPlan: [],
            requestedAt: start,
            purchasedAt: start
        )
    }

    private static func found(
        _ state: RequestedRefund.State = .open,
        refund: RefundRequestResponse.RefundState? = nil
    ) -> RefundRequestResponse {
        var request = RequestedRefund(number: 2, of: transaction, because: .legal, at: start)
        request.state = state
        let isOpen = state == .open
        if !isOpen { request.decidedAt = start }
        let act = Act(
            decidedBy: AdministratorName(unchecked: "mia"),
            reason: ActReason(rawValue: script)
        )
        return RefundRequestResponse(
            request: request,
            act: isOpen ? nil : act,
            refundState: refund,
            transaction: transaction
        )
    }

    private func page(
        _ found: RefundRequestResponse,
        report: RefundRequestPage.Report = .missing,
        _ scopes: Set<AdministratorScope> = [.support],
        hasLostRefund: Bool = false
    ) -> String {
        RefundRequestPage(
            found: found,
            report: report,
            visitor: .sample(scopes),
            hasLostRefund: hasLostRefund
        ).html.markup
    }

    @Test func anOpenRequestHasItsFactsAndBothDecisions() {
        let markup = page(Self.found())
        for part in [
            "a legal reason", "href=\"/accounts/ada\"", "href=\"/purchases/1000001\"", "0.99 USD",
            "has reported nothing", "<dialog id=\"approve\"", "<dialog id=\"decline\"",
            "action=\"/refund-requests/1000001/2/decision\"", "name=\"reason\"", "name=\"csrf\"",
        ] { #expect(markup.contains(part), "\(part)") }
    }

    @Test func whoOnlyReadsDecidesNothing() {
        #expect(!page(Self.found(), [.read]).contains("<dialog"))
    }

    @Test(
        arguments: [
            (RequestedRefund.State.declined, nil), (.approved, .made), (.approved, .pending),
            (.approved, nil),
        ] as [(RequestedRefund.State, RefundRequestResponse.RefundState?)]
    )
    func whatIsDecidedIsNotDecidedAgain(
        state: RequestedRefund.State,
        refund: RefundRequestResponse.RefundState?
    ) {
        let markup = page(Self.found(state, refund: refund))
        #expect(!markup.contains("<dialog"))
        #expect(markup.contains("<strong>mia</strong>"))
        #expect(markup.contains("&lt;script&gt;") && !markup.contains(Self.script))
    }

    @Test func aRefundThatFailedIsTriedAgainAndNotDeclined() {
        let markup = page(Self.found(.approved, refund: .failed))
        #expect(markup.contains("Try the refund again"))
        #expect(!markup.contains("<dialog id=\"decline\""))
    }

    @Test func nothingIsApprovedBesideARefundWithoutAnAnswer() {
        let markup = page(Self.found(), hasLostRefund: true)
        #expect(!markup.contains("<dialog id=\"approve\""))
        #expect(markup.contains("<dialog id=\"decline\"") && markup.contains("Repeat that one"))
    }

    @Test func aReportThatCannotBeReadSaysWhy() {
        #expect(page(Self.found(), report: .unknown(Self.script)).contains("&lt;script&gt;"))
        #expect(page(Self.found(), report: .hidden).contains("for the scope support"))
    }

    @Test func theListHasTheOpenOnesFirst() throws {
        #expect(try RefundRequestQuery().parameters.map(\.value) == ["open"])
        let all = try RefundRequestQuery(FormFields("state=all&after=p"))
        #expect(all.parameters.map(\.name) == ["after"])
        #expect(throws: ConsoleProblem.self) { try RefundRequestQuery(FormFields("state=none")) }
        let list = RefundRequestListPage(
            found: RefundRequestsResponse(requests: [Self.found().request], next: "a b"),
            query: all,
            visitor: .sample([.read])
        ).html.markup
        #expect(list.contains("href=\"/refund-requests/1000001/2\""))
        #expect(list.contains("/refund-requests?state=all&amp;after=a%20b"))
    }
}

import EventTypes
import OperatorCore
import StoreAPI
import Testing

@testable import Console

/// Reconciliations, which read the books and change nothing.
@Suite(.timeLimit(.minutes(10)))
struct ReconciliationJobTests {
    @Test func aReconciliationKeepsWhatItHasFound() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await board.begin(JobFolderInTests.reconciliation()).id
            #expect(await board.job(id)?.state == .running)
            work.goOn.yield()
            try await board.wait(for: .done, of: id, .reconciliation)
            let later = try folder.board(JobWorkInTests())
            #expect(await later.job(id, of: .reconciliation)?.reconciliation?.compared == 3)
        }
    }

    @Test func aReconciliationThatWasCutOffIsBegunAgain() async throws {
        try await JobFolderInTests.run { folder in
            let board = try folder.board(JobWorkInTests())
            let record = try await board.begin(JobFolderInTests.reconciliation())
            // A statement that takes long does not keep the console from stopping.
            await board.shutDown()
            let later = try folder.board(JobWorkInTests())
            let kept = await later.job(record.id, of: .reconciliation)
            #expect(kept?.state == .interrupted && kept?.canResume == false)
        }
    }

    private static func page(_ found: Reconciliation?, _ scopes: Set<AdministratorScope>) -> String
    {
        var record = JobFolderInTests.reconciliation()
        record.reconciliation = found
        record.state = found == nil ? .running : .done
        return ReconciliationPage(record: record, fields: [:], visitor: .sample(scopes)).html.markup
    }

    private static var found: Reconciliation {
        var found = Reconciliation(
            since: nil,
            until: StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
        )
        found.compared = 1200
        found.purchased = Reconciliation.Total(count: 1199, amounts: ["USD": 118_701])
        return found
    }

    @Test func booksThatAgreeSaySo() {
        let page = Self.page(Self.found, [.read])
        #expect(page.contains("All books agree, 1,200 transactions compared."))
        #expect(page.contains("data-differences=\"0\""))
        #expect(page.contains("<td>1,199</td><td>1187.01 USD</td>"))
    }

    @Test func eachDifferenceHasItsKindAdviceAndPurchase() {
        var found = Self.found
        found.lost = 30
        found.differenceCounts = ["noReceipt": 30]
        found.differences = [
            Reconciliation.Difference(
                kind: "noReceipt",
                effect: .lost,
                transactionID: TransactionID(number: 7),
                detail: "<b>none</b>"
            )
        ]
        let page = Self.page(found, [.read])
        for words in [
            "30 differences, 1,200 transactions compared.", "data-differences=\"30\"",
            ">30 purchased, and without a receipt</h2>", "receipts has not signed it",
            "<a href=\"/purchases/7\">7</a>: &lt;b&gt;none&lt;/b&gt;", "1 of 30 are shown here.",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(!Self.page(found, [.operator]).contains("href=\"/purchases/7\""))
    }

    @Test func whoMayNotOperateCannotBeginOrStopIt() {
        for (scopes, isThere) in [([.read], false), ([.operator], true)]
            as [(Set<AdministratorScope>, Bool)]
        {
            let list = ReconciliationListPage(
                records: [],
                visitor: .sample(scopes),
                canReconcile: true
            )
            #expect(list.html.markup.contains("<dialog") == isThere)
            #expect(Self.page(nil, scopes).contains("<dialog") == isThere)
        }
        let none = ReconciliationListPage(
            records: [],
            visitor: .sample([.operator]),
            canReconcile: false
        )
        #expect(none.html.markup.contains("CONSOLE_STATE_DIRECTORY"))
        #expect(!none.html.markup.contains("<dialog"))
    }
}

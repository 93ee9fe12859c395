import EventTypes
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct ActListPageTests {
    @Test func anActSaysWhoWhatAndWhyAsText() throws {
        let act = RecordedAct(
            act: Act(
                decidedBy: AdministratorName(unchecked: "mia"),
                reason: ActReason(rawValue: "<i>damaged</i>")
            ),
            time: "2026-11-21T09:00:00.000Z",
            subject: .purchase(TransactionID(number: 7)),
            words: "refunded 0.99 USD of 1 × <b>",
            key: "ada",
            place: "1:2"
        )
        let page = ActListPage(
            found: ActPage(acts: [act], next: "1:2", archivedMonth: "2026-09"),
            query: ActQuery(kind: .refunds, administrator: "mia"),
            visitor: .sample([.read])
        ).html.markup
        for part in [
            "Acts up to 2026-09 are in the files", "<strong>mia</strong>",
            "“&lt;i&gt;damaged&lt;/i&gt;”", "1 × &lt;b&gt;",
            "href=\"/purchases/7\"", "href=\"/accounts/ada\"",
            "kind=refunds&amp;by=mia&amp;key=&amp;before=1%3A2",
        ] { #expect(page.contains(part), "\(part)") }
    }
}

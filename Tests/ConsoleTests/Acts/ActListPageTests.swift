import ClockAndIDs
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

    @Test func eachActLeadsToWhatItIsAbout() {
        let id = EventID(time: StoreTime(millisecondsSinceEpoch: 1_795_237_200_000))
        let subjects: [(subject: RecordedAct.Subject, link: String)] = [
            (.campaign(7), "<a href=\"/codes/7\">"), (.replay(id), "<a href=\"/replays/\(id)\">"),
            (.proof(id), "<a href=\"/proofs/\(id)\">"), (.raise(id), "<a href=\"/raises/\(id)\">"),
            (.reconciliation(id), "<a href=\"/reconciliations/\(id)\">"),
            (.family(FamilyID(unchecked: "f")), "family f, <a href=\"/accounts/ada\">"),
            (.account(AccountID(unchecked: "ada")), "<a href=\"/accounts/ada\">account ada</a>"),
        ]
        for (subject, link) in subjects {
            let act = RecordedAct(
                act: Act(decidedBy: AdministratorName(unchecked: "mia")),
                time: "2026-11-21T09:00:00.000Z",
                subject: subject,
                words: "did it",
                key: "ada",
                place: "1:2"
            )
            let page = ActListPage(
                found: ActPage(acts: [act], next: nil, archivedMonth: nil),
                query: ActQuery(kind: .jobs),
                visitor: .sample([.read])
            ).html.markup
            #expect(page.contains(link), "\(link)")
        }
    }

    @Test func jobsAreChosenByWhoMaySeeThem() {
        let cases: [(scopes: Set<AdministratorScope>, isOffered: Bool)] = [
            ([.support], false), ([.read, .support], true), ([.operator, .support], true),
            ([.merchandiser, .support], true),
        ]
        for (scopes, isOffered) in cases {
            let page = ActListPage(
                found: ActPage(acts: [], next: nil, archivedMonth: nil),
                query: ActQuery(),
                visitor: .sample(scopes)
            ).html.markup
            #expect(page.contains("replays, proofs, reconciliations and raises") == isOffered)
            #expect(page.contains("families"))
        }
    }
}

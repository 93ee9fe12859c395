import EventTypes
import OperatorCore
import StoreAPI
import Testing

@testable import Console

@Suite struct JobPagesTests {
    private static func planned() -> JobRecord {
        var record = JobFolderInTests.replay()
        record.state = .planned
        record.plan = ReplayOutline().plan(ends: [:])
        return record
    }

    @Test func whoMayNotOperateSeesNoButton() {
        for scopes: Set<AdministratorScope> in [[.read], [.read, .support]] {
            var record = JobFolderInTests.replay()
            record.state = .running
            let page = ReplayPage(
                record: record,
                fields: [:],
                visitor: .sample(scopes),
                canReplay: true
            ).html.markup
            #expect(!page.contains("<dialog"))
            let list = ReplayListPage(records: [], visitor: .sample(scopes), canReplay: true)
            #expect(!list.html.markup.contains("Plan it"))
            let proofs = ProofListPage(records: [], visitor: .sample(scopes), canProve: true)
            #expect(!proofs.html.markup.contains("<dialog"))
        }
    }

    @Test func whatIsNotSetIsSaidAndHasNoButton() {
        var replays = ReplayListPage(records: [], visitor: .sample([.operator]), canReplay: false)
        #expect(!replays.html.markup.contains("cannot be read"))
        replays.unreadableCount = 2
        #expect(replays.html.markup.contains("The records of 2 jobs cannot be read"))
        #expect(replays.html.markup.contains("KAFKA_BOOTSTRAP_SERVERS"))
        #expect(!replays.html.markup.contains("action=\"/replays\""))
        let proofs = ProofListPage(records: [], visitor: .sample([.operator]), canProve: false)
        #expect(proofs.html.markup.contains("COUNTERFOIL_SHADOW_DATABASE_URL"))
        #expect(!proofs.html.markup.contains("<dialog"))
    }

    @Test func aPlanOfNothingCannotBeSent() {
        let page = ReplayPage(
            record: Self.planned(),
            fields: [:],
            visitor: .sample([.operator]),
            canReplay: true
        ).html.markup
        #expect(!page.contains("<dialog"))
    }

    @Test func eventsThatCannotBeReadAreSkippedOnlyWithATick() throws {
        var record = Self.planned()
        record.plan = try JobFolderInTests.planWithUnreadableEvent()
        let page = ReplayPage(
            record: record,
            fields: [:],
            visitor: .sample([.operator]),
            canReplay: true
        ).html.markup
        #expect(page.contains("name=\"skip\" value=\"true\" required"))
        #expect(page.contains("Skip the events that cannot be read: 1"))
    }

    @Test func aReasonThatIsMarkupIsText() {
        var record = JobFolderInTests.replay()
        record.decisions.append(
            JobRecord.Decision(
                words: "began to send",
                act: Act(
                    decidedBy: AdministratorName(unchecked: "maria"),
                    reason: ActReason(rawValue: "<img src=x onerror=alert(1)>")
                ),
                at: 0
            )
        )
        let markup = JobPage.decisions(of: record).markup
        #expect(markup.contains("&lt;img") && !markup.contains("<img"))
    }

    @Test func aFormSelectsWhatTheCommandLineDoes() throws {
        let now = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
        let form = try #require(
            FormFields(
                "topic=payments.transactions&account=ada,%20eve&since=2026-11-01T00:00:00Z"
                    + "&until=&consumer=receipts&rate=50"
            )
        )
        let order = try ReplayForm.order(in: form, at: now)
        #expect(order.selection.topics == ["payments.transactions"])
        #expect(order.selection.accounts == ["ada", "eve"])
        #expect(order.selection.since == StoreTime("2026-11-01T00:00:00Z"))
        #expect(order.selection.until == nil)
        #expect(order.consumer == "receipts" && order.rate == 50)
    }

    @Test(arguments: [
        "topic=none.such", "since=yesterday", "since=2027-11-01T00:00:00Z", "rate=0", "rate=20000",
        "topic=receipts.issued&consumer=payments", "event=1", "transaction=x",
    ])
    func whatCannotBeSelectedIsRefused(text: String) throws {
        let now = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
        let form = try #require(FormFields(text))
        #expect(throws: ConsoleProblem.self) { try ReplayForm.order(in: form, at: now) }
    }
}

import ClockAndIDs
import EventTypes
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct JobActsTests {
    private static func record(
        _ kind: JobRecord.Kind,
        _ decisions: [(name: String, words: String, at: Int64)]
    ) -> JobRecord {
        let all = decisions.map { name, words, time in
            JobRecord.Decision(
                words: words,
                act: Act(decidedBy: AdministratorName(unchecked: name)),
                at: time
            )
        }
        let time = StoreTime(millisecondsSinceEpoch: all[0].at)
        var record = JobRecord(kind, id: EventID(time: time), by: all[0])
        record.decisions = all
        return record
    }

    private static let records = [
        record(.proof, [("max", "began it", 3000)]),
        record(.replay, [("mia", "planned it", 1000), ("mia", "sent it", 3000)]),
    ]

    @Test func aPageOfJobsEndsWhereTheNextOneBegins() {
        var found: [String] = []
        var before: String?
        repeat {
            let query = ActQuery(kind: .jobs, before: before, limit: 1)
            let page = JobActs.page(query, of: Self.records)
            #expect(page.acts.count == 1)
            found += page.acts.map(\.words)
            before = page.next
        } while before != nil
        // Two of them are of one moment.
        #expect(found == ["replay: sent it", "proof: began it", "replay: planned it"])
    }

    @Test func decisionsAreChosenByPerson() {
        let query = ActQuery(kind: .jobs, administrator: "mia")
        let page = JobActs.page(query, of: Self.records)
        #expect(page.acts.map(\.words) == ["replay: sent it", "replay: planned it"])
        #expect(page.acts.allSatisfy { $0.subject == .replay(Self.records[1].id) })
        #expect(page.next == nil)
        // A job is about no account.
        #expect(JobActs.page(ActQuery(kind: .jobs, key: "ada"), of: Self.records).acts.isEmpty)
    }
}

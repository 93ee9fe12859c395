import ClockAndIDs
import EventTypes
import Foundation
import OperatorCore
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(10)))
struct JobBoardTests {
    @Test func aReplaySendsNothingBeforeSomebodySaysSo() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await board.begin(JobFolderInTests.replay()).id
            #expect(await board.job(id, of: .replay)?.state == .planning)
            work.goOn.yield()
            try await board.wait(for: .planned, of: id, .replay)
            #expect(!FileManager.default.fileExists(atPath: folder.state + "/jobs/\(id).journal"))
            try await board.beginToSend(id)
            work.goOn.yield()
            work.goOn.yield()
            try await board.wait(for: .done, of: id, .replay)
            // What is through is not sent a second time.
            await #expect(throws: ConsoleProblem.self) {
                try await board.send(id, .goOn, by: JobFolderInTests.decision("went on with it"))
            }
        }
    }

    @Test func aSecondJobOfAKindLearnsWhoHasTheFirst() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let first = JobFolderInTests.proof()
            _ = try await board.begin(first)
            let second = JobFolderInTests.proof(by: "ada")
            let problem = await #expect(throws: ConsoleProblem.self) {
                _ = try await board.begin(second)
            }
            #expect(problem?.status == 409)
            #expect(problem?.detail.hasPrefix("maria began it at 2026-") == true)
            #expect(problem?.back?.path == "/proofs/\(first.id)")
            #expect(await board.jobs(of: .proof).count == 1)
            // A replay is another kind.
            _ = try await board.begin(JobFolderInTests.replay())
            work.goOn.yield()
            work.goOn.yield()
            try await board.wait(for: .done, of: first.id, .proof)
        }
    }

    @Test func aReplayThatIsStoppedGoesOnWhereItWas() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await JobFolderInTests.plannedReplay(on: board, work)
            try await board.beginToSend(id)
            work.goOn.yield()
            let path = folder.state + "/jobs/\(id).journal"
            let deadline = ContinuousClock.now + .seconds(60)
            while (try? ReplayJournal.read(path).sent) != 5 {
                try #require(ContinuousClock.now < deadline)
                await Task.yield()
            }
            try await board.stop(id, of: .replay, by: JobFolderInTests.decision("stopped it"))
            work.goOn.yield()
            try await board.wait(for: .stopped, of: id, .replay)
            try await board.send(
                id,
                .goOn,
                by: JobFolderInTests.decision("went on with it", by: "ada")
            )
            work.goOn.yield()
            try await board.wait(for: .done, of: id, .replay)
            #expect(try ReplayJournal.read(path).sent == 10)
            let words = await board.job(id, of: .replay)?.decisions.map {
                "\($0.act.decidedBy) \($0.words)"
            }
            #expect(
                words == [
                    "maria planned it", "maria began to send", "maria stopped it",
                    "ada went on with it",
                ]
            )
        }
    }

    @Test func aConsoleThatIsKilledShowsItsReplayAsInterruptedAndResumesIt() async throws {
        try await JobFolderInTests.run { folder in
            let killed = JobWorkInTests()
            let first = try folder.board(killed)
            let id = try await JobFolderInTests.plannedReplay(on: first, killed)
            try await first.beginToSend(id)
            // The first board still works, as far as its files say: nobody told it to end.
            let work = JobWorkInTests()
            let second = try folder.board(work)
            #expect(await second.job(id, of: .replay)?.state == .interrupted)
            #expect(await second.job(id, of: .replay)?.canResume == true)
            let versions = [
                await first.job(id, of: .replay)?.version,
                await second.job(id, of: .replay)?.version,
            ]
            #expect(versions[0] != versions[1], "a page that is open loads itself again")
            try await second.send(id, .goOn, by: JobFolderInTests.decision("went on with it"))
            work.goOn.yield()
            work.goOn.yield()
            try await second.wait(for: .done, of: id, .replay)
            #expect(try await folder.board(work).job(id, of: .replay)?.state == .done)
        }
    }

    @Test func aRecordThatCannotBeReadIsCountedAndStays() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let first = try folder.board(work)
            let id = try await JobFolderInTests.plannedReplay(on: first, work)
            let path = folder.state + "/jobs/0.job"
            try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
            let second = try folder.board(work)
            #expect(await second.job(id, of: .replay) != nil)
            #expect(await second.unreadableCount == 1)
            _ = try await second.begin(JobFolderInTests.proof())
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func aShutdownInterruptsWhatIsUnderWay() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let proof = JobFolderInTests.proof()
            _ = try await board.begin(proof)
            await board.shutDown()
            let kept = try folder.board(work)
            #expect(await kept.job(proof.id, of: .proof)?.state == .interrupted)
            #expect(await kept.job(proof.id, of: .proof)?.canResume == false)
        }
    }

    @Test func aReplayThatIsOnlyPlannedCannotGoOn() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await JobFolderInTests.plannedReplay(on: board, work)
            let problem = await #expect(throws: ConsoleProblem.self) {
                try await board.send(id, .goOn, by: JobFolderInTests.decision("went on with it"))
            }
            #expect(problem?.status == 409)
            #expect(await board.job(id, of: .replay)?.state == .planned)
        }
    }

    @Test func whatHasSentNothingCannotGoOnWhateverItsDecisionsSay() {
        var record = JobFolderInTests.replay()
        record.decisions.append(JobFolderInTests.decision("began to send"))
        for state in [JobRecord.State.stopped, .interrupted, .failed] {
            record.state = state
            #expect(!record.canResume)
        }
        record.begunAt = 1_795_237_200_000
        #expect(record.canResume)
    }

    @Test func aPlanWithUnreadableEventsIsSentOnlyIfTheyAreSkipped() async throws {
        try await JobFolderInTests.run { folder in
            var record = JobFolderInTests.replay()
            record.state = .planned
            record.plan = try JobFolderInTests.planWithUnreadableEvent()
            try JobFolder(folder: try StateFolder(folder.state, "jobs")).write(record)
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let (id, decision) = (record.id, JobFolderInTests.decision("began to send"))
            await #expect(throws: ConsoleProblem.self) {
                try await board.send(id, .begin(skippingUnreadable: false), by: decision)
            }
            try await board.send(id, .begin(skippingUnreadable: true), by: decision)
            work.goOn.yield()
            work.goOn.yield()
            try await board.wait(for: .done, of: id, .replay)
        }
    }

    @Test func aReplayWhoseJournalIsThroughIsNotSentAgain() async throws {
        try await JobFolderInTests.run { folder in
            var record = JobFolderInTests.replay()
            record.state = .running
            record.plan = ReplayOutline().plan(ends: [:])
            record.begunAt = 1_795_237_200_000
            let jobs = JobFolder(folder: try StateFolder(folder.state, "jobs"))
            try jobs.write(record)
            var journal = ReplayJournal(
                id: record.id,
                selection: ReplaySelection(),
                consumer: nil,
                rate: 500,
                total: 10,
                ends: [:]
            )
            journal.sent = 10
            journal.isDone = true
            try journal.write(to: jobs.journalPath(of: record.id))
            let board = try folder.board(JobWorkInTests())
            let decision = JobFolderInTests.decision("went on with it")
            try await board.send(record.id, .goOn, by: decision)
            #expect(await board.job(record.id, of: .replay)?.state == .done)
            #expect(await board.progress(of: record).isEmpty, "nothing is under way")
        }
    }

    @Test func theNewestHundredJobsAreKeptAndThoseThatCanGoOn() async throws {
        try await JobFolderInTests.run { folder in
            let jobs = JobFolder(folder: try StateFolder(folder.state, "jobs"))
            func id(_ number: Int) -> EventID {
                EventID(time: StoreTime(millisecondsSinceEpoch: 1_795_237_200_000 + Int64(number)))
            }
            var stopped = JobRecord(
                .replay,
                id: id(0),
                by: JobFolderInTests.decision("began to send"),
                order: JobFolderInTests.replay().order
            )
            stopped.state = .stopped
            stopped.begunAt = 1_795_237_200_000
            try jobs.write(stopped)
            try Data().write(to: URL(fileURLWithPath: jobs.journalPath(of: stopped.id)))
            var over: [EventID] = []
            for number in 1...100 {
                var record = JobRecord(
                    .proof,
                    id: id(number),
                    by: JobFolderInTests.decision("began it")
                )
                record.state = .done
                over.append(record.id)
                try jobs.write(record)
            }
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let new = JobRecord(.proof, id: id(101), by: JobFolderInTests.decision("began it"))
            _ = try await board.begin(new)
            let kept = Set(jobs.records().records.map(\.id))
            #expect(kept == Set([stopped.id, new.id] + over.dropFirst(2)))
            #expect(await board.jobs(of: .proof).count == 99)
            #expect(FileManager.default.fileExists(atPath: jobs.journalPath(of: stopped.id)))
            await board.shutDown()
        }
    }

    @Test func oldPlansThatSentNothingMakeRoomFirst() {
        var records = (0...JobRecord.countMax).map { _ in
            var record = JobFolderInTests.replay()
            record.state = .done
            return record
        }
        records[10].state = .planned
        records[60].state = .planned
        #expect(JobRecord.surplus(of: records).map(\.id) == [records[60].id])
        records[60].state = .running
        #expect(JobRecord.surplus(of: records).map(\.id) == [records[100].id])
    }

    @Test func twoConsolesDoNotShareAFolder() async throws {
        try await JobFolderInTests.run { folder in
            let first = try StateLock(folder.state)
            #expect(throws: StateLock.Failure.self) { try StateLock(folder.state) }
            withExtendedLifetime(first) {}
        }
    }

    @Test func nobodyElseMayReadTheFiles() async throws {
        try await JobFolderInTests.run { folder in
            let jobs = JobFolder(folder: try StateFolder(folder.state, "jobs"))
            let record = JobFolderInTests.replay()
            try jobs.write(record)
            func mode(_ path: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            #expect(try mode(jobs.folder.path) == 0o700)
            #expect(try mode(jobs.folder.path(of: "\(record.id).job")) == 0o600)
        }
    }
}

import EventTypes
import Foundation
import Testing

@testable import PaymentQueue

@Suite(.timeLimit(.minutes(10))) struct StepLogTests {
    private let folder: URL
    private var url: URL { folder.appendingPathComponent("steps.jsonl") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "step-log-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func purchased(_ number: Int64) -> SKPaymentTransaction {
        SKPaymentTransaction(.of(number, "coins", .purchased))
    }

    @Test func aStepIsMadeOnceAlsoAfterARestart() throws {
        do {
            let log = try StepLog(url: url)
            #expect(try log.record("coins", of: purchased(1), value: "100"))
            #expect(try !log.record("coins", of: purchased(1), value: "100"))
            #expect(try log.record("mail", of: purchased(1)))
            #expect(try log.record("coins", of: purchased(2), value: "50"))
        }
        let log = try StepLog(url: url)
        #expect(try !log.record("coins", of: purchased(1), value: "100"))
        #expect(log.has("mail", of: purchased(1)))
        #expect(!log.has("mail", of: purchased(2)))
        let coins = log.entries().filter { $0.step == "coins" }.compactMap { Int($0.value ?? "") }
        #expect(coins.reduce(0, +) == 150)
    }

    @Test func copiesAreNotDeliveredAgainAndRenewalsAre() throws {
        let log = try StepLog(url: url)
        #expect(try log.record("coins", of: purchased(1)))
        let copies: [TransactionReason] = [.restore, .ownedAgain]
        for (number, reason) in zip(Int64(2)..., copies) {
            let copy = QueueChanged.of(number, "coins", .purchased, original: 1, reason: reason)
            #expect(try !log.record("coins", of: SKPaymentTransaction(copy)))
        }
        let renewal = SKPaymentTransaction(
            .of(4, "coins", .purchased, original: 1, reason: .renewal)
        )
        #expect(renewal.original?.transactionIdentifier == "1")
        #expect(try log.record("coins", of: renewal))
        #expect(try !log.record("coins", of: renewal))
        #expect(log.entries().map(\.transaction) == ["1", "4"])
        #expect(purchased(1).original == nil)
    }

    @Test func aLineThatACrashCutOffIsNoStepWhereverItWasCut() throws {
        let whole: Data
        do {
            let log = try StepLog(url: url)
            try log.record("coins", of: purchased(1), value: "100")
            let first = try Data(contentsOf: url)
            try log.record("coins", of: purchased(2), value: "50")
            whole = try Data(contentsOf: url)
            #expect(first.count < whole.count)
        }
        let firstEnd = try #require(whole.firstIndex(of: UInt8(ascii: "\n"))) + 1
        for end in firstEnd..<whole.count {
            try whole[..<end].write(to: url)
            do {
                let log = try StepLog(url: url)
                #expect(log.entries().map(\.value) == ["100"])
                #expect(try log.record("coins", of: purchased(2), value: "50"))
            }
            #expect(try StepLog(url: url).entries().map(\.value) == ["100", "50"])
        }
    }

    @Test func aLineInTheMiddleThatIsNoStepIsNamedAndNothingIsChanged() throws {
        let text = Data("{\"x\":1}\n{}\n".utf8)
        try text.write(to: url)
        #expect(throws: StepLog.Failure.malformed(path: url.path, line: 1)) {
            try StepLog(url: url)
        }
        #expect(try Data(contentsOf: url) == text)
    }

    @Test func twoCannotHaveOneLogOpen() throws {
        let log = try StepLog(url: url)
        #expect(throws: StepLog.Failure.isOpenElsewhere(path: url.path)) { try StepLog(url: url) }
        #expect(log.entries().isEmpty)
    }

    @Test func aFolderThatIsNotThereIsAClearError() throws {
        let missing = folder.appendingPathComponent("missing/steps.jsonl")
        let failure = #expect(throws: StepLog.Failure.self) { try StepLog(url: missing) }
        #expect(
            failure?.description == "\(missing.path): cannot open it: No such file or directory"
        )
    }

    @Test func aRestoredCopyIsDeliveredNoSecondTime() throws {
        let log = try StepLog(url: url)
        #expect(try log.record("unlock", of: purchased(1)))
        for copy in 2...3 {
            let restored = SKPaymentTransaction(.of(Int64(copy), "coins", .restored, original: 1))
            #expect(try !log.record("unlock", of: restored))
            #expect(log.has("unlock", of: restored))
        }
    }

    @Test func whatIsNotPaidHasNoSteps() throws {
        let log = try StepLog(url: url)
        let failed = SKPaymentTransaction(.of(1, "coins", .failed))
        #expect(throws: StepLog.Failure.transactionIsNotPaid) { try log.record("x", of: failed) }
    }

    @Test func manyThreadsMakeAStepOnce() async throws {
        let log = try StepLog(url: url)
        let made = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask { try log.record("coins", of: purchased(Int64(number % 5) + 1)) }
            }
            return try await group.reduce(0) { $1 ? $0 + 1 : $0 }
        }
        #expect(made == 5)
        #expect(log.entries().count == 5)
    }
}

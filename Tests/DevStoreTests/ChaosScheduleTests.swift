import Testing

@testable import devstore

@Suite struct ChaosScheduleTests {
    private static let seeds = UInt64(1)...200
    private static let minute = Duration.seconds(60)
    private static let services = [
        "catalog", "payments", "payments-2", "receipts", "receipts-2", "fulfillment",
        "fulfillment-2",
    ]
    private static let scene = ChaosSchedule.Scene(
        processes: services,
        brokers: [1],
        databaseLines: services,
        hasBrokerLine: true,
        hasDisk: true,
        hasProcessor: true
    )

    private func schedule(
        _ seed: UInt64,
        length: Duration = Self.minute,
        in scene: ChaosSchedule.Scene = Self.scene,
        only kinds: Set<FaultKind> = Set(FaultKind.allCases)
    ) -> [Strike] {
        ChaosSchedule(seed: seed, length: length, scene: scene, kinds: kinds).strikes
    }

    @Test func theSameSeedMakesTheSameSchedule() {
        #expect(schedule(7) == schedule(7))
        #expect(schedule(7) != schedule(8))
    }

    @Test(arguments: seeds) func aMinuteHasSeveralOfEachKind(seed: UInt64) {
        let strikes = schedule(seed)
        for kind in FaultKind.allCases {
            #expect(strikes.count { $0.fault.kind == kind } >= 3, "\(kind)")
        }
    }

    @Test(arguments: seeds) func everyFaultIsOverByTheEnd(seed: UInt64) {
        for length in [Duration.seconds(5), .seconds(17), Self.minute] {
            for strike in schedule(seed, length: length) {
                #expect(strike.time > .zero)
                #expect(strike.end <= length, "\(strike)")
            }
        }
    }

    @Test(arguments: seeds) func nothingIsStruckWhileItIsDown(seed: UInt64) {
        var scene = Self.scene
        scene.brokers = [1, 2, 3]
        var ends: [FaultTarget.Part: Duration] = [:]
        var last = Duration.zero
        for strike in schedule(seed, in: scene) {
            #expect(strike.time >= last)
            last = strike.time
            #expect(ends[strike.target.part, default: .zero] <= strike.time, "\(strike)")
            ends[strike.target.part] = strike.end
        }
    }

    @Test(arguments: seeds) func everyProcessHangsWithinTwoMinutes(seed: UInt64) {
        let hung = schedule(seed, length: .seconds(120), only: [.hangs]).map(\.target)
        let all = Self.services.map { FaultTarget.process($0) } + [.broker(1), .postgres]
        #expect(Set(hung) == Set(all))
    }

    @Test func someHangsOutlastTheLeadOfARelay() {
        let long = Self.seeds.flatMap { schedule($0, only: [.hangs]) }
            .filter { $0.length > .seconds(15) }
        let isOfAService = long.allSatisfy {
            if case .process = $0.target { true } else { false }
        }
        #expect(isOfAService)
        #expect(long.count > 100)
    }

    @Test(arguments: FaultKind.allCases) func onlyOneKindIsTaken(kind: FaultKind) {
        let strikes = schedule(3, only: [kind])
        #expect(!strikes.isEmpty)
        #expect(strikes.allSatisfy { $0.fault.kind == kind })
    }

    @Test func whatIsNotThereIsNotStruck() {
        let bare = ChaosSchedule.Scene(processes: ["payments"], brokers: [1, 2, 3])
        for strike in Self.seeds.flatMap({ schedule($0, in: bare) }) {
            #expect(strike.fault.kind == .kills || strike.fault.kind == .hangs)
            switch strike.target {
            case .process("payments"), .broker(1), .broker(2), .broker(3), .postgres: break
            default: Issue.record("\(strike)")
            }
        }
    }

    @Test func onlyServicesAreKilledBeforeACommit() {
        let aimed = Self.seeds.flatMap { schedule($0) }
            .filter { $0.fault == .kill(beforeCommit: true) }
        #expect(!aimed.isEmpty)
        for strike in aimed {
            guard case .process = strike.target else {
                Issue.record("\(strike)")
                continue
            }
        }
    }
}

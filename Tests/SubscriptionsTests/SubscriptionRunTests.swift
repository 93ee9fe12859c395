import EventTypes
import Subscriptions
import Testing

/// Any interleaving of events keeps the invariants.
@Suite struct SubscriptionRunTests {
    private typealias Step = SubscriptionWorld.Step

    @Test(arguments: UInt64(1)...60)
    func anyOrderOfEventsKeepsTheInvariants(seed: UInt64) {
        for part in UInt64(0)..<4 {
            let steps = Self.steps(seed * 1000 + part)
            guard let failure = Self.failure(of: steps, seed) else { continue }
            let (shortest, finding) = Self.shortest(steps, failure, seed)
            Issue.record(
                """
                \(finding)
                seed \(seed), run \(part); the shortest run that fails:
                \(shortest.map(\.description).joined(separator: "\n"))
                """
            )
            return
        }
    }

    @Test func aSeedAlwaysGivesTheSameHistory() {
        for seed in UInt64(1)...20 {
            #expect(Self.steps(seed) == Self.steps(seed))
            let histories = [1, 2].map { _ in Self.run(Self.steps(seed), seed).history?.changes }
            #expect(histories[0] == histories[1])
        }
    }

    /// The runs reach every cause, so that they prove something.
    @Test func theRunsReachEveryCause() {
        var causes: Set<SubscriptionCause> = []
        var strays = 0
        var offers: Set<OfferMode> = []
        var laterPeriods = 0
        for seed in UInt64(1)...60 {
            for part in UInt64(0)..<20 {
                let history = Self.run(Self.steps(seed * 1000 + part), seed).history
                causes.formUnion((history?.changes ?? []).map(\.cause))
                let periods = (history?.changes ?? []).compactMap(\.newPeriod)
                offers.formUnion(periods.compactMap { $0.offer?.mode })
                laterPeriods += periods.count { $0.offer?.number ?? 1 > 1 }
                strays += (history?.captures ?? []).count(where: \.isReturned)
            }
        }
        let missing = Set(SubscriptionCause.all).subtracting(causes)
        #expect(missing.isEmpty, "no run reaches \(missing.map(\.rawValue).sorted())")
        #expect(strays > 50)
        #expect(offers == [.freeTrial, .payAsYouGo, .payUpFront] && laterPeriods > 10)
    }

    private static func policy(_ seed: UInt64) -> SubscriptionPolicy {
        SubscriptionsTests.policy(grace: [nil, .days(3), .days(16), .days(28)][Int(seed % 4)])
    }

    private static func run(_ steps: [Step], _ seed: UInt64) -> SubscriptionWorld {
        var world = SubscriptionWorld(policy(seed))
        for step in steps { world.take(step) }
        return world
    }

    /// The first thing that is wrong in a run; `nil` if nothing is.
    private static func failure(of steps: [Step], _ seed: UInt64) -> AuditFinding? {
        var world = SubscriptionWorld(policy(seed))
        for step in steps {
            world.take(step)
            if let finding = world.findings.first { return finding }
        }
        world.settle()
        return world.findings.first
    }

    /// Leaves out steps for as long as the run still breaks the same invariant.
    private static func shortest(
        _ steps: [Step],
        _ finding: AuditFinding,
        _ seed: UInt64
    ) -> ([Step], AuditFinding) {
        var (steps, finding) = (steps, finding)
        var length = steps.count / 2
        while length > 0 {
            var start = 0
            var isShorter = false
            while start + length <= steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<start + length)
                if let other = failure(of: fewer, seed), other.invariant == finding.invariant {
                    (steps, finding, isShorter) = (fewer, other, true)
                } else {
                    start += length
                }
            }
            if !isShorter { length /= 2 }
        }
        return (steps, finding)
    }

    /// The steps of a run, which follow from its seed.
    private static func steps(_ seed: UInt64) -> [Step] {
        var numbers = Numbers(seed)
        let waits: [Int64] = [0, 1, 2, 6, 12, 24, 48, 24 * 7, 24 * 15, 24 * 28, 24 * 31, 24 * 100]
        let first = Int(numbers.next(5))
        return [seed % 2 == 0 ? .introduce(first) : .choose(first), .answer(0, .captured)]
            + (0..<60).map { _ in
                let index = Int(numbers.next(8))
                switch numbers.next(34) {
                case 0..<4: return .waitForAction
                case 4..<9: return .wait(hours: waits[Int(numbers.next(UInt64(waits.count)))])
                case 9..<14: return .scheduler(all: numbers.next(3) > 0)
                case 14..<18: return .answer(index, .captured)
                case 18, 19: return .answer(index, .failed)
                case 20: return .answer(index, .capturedSilently)
                case 21: return .answer(index, .failedSilently)
                case 22: return .choose(Int(numbers.next(5)))
                case 23: return .introduce(Int(numbers.next(5)))
                case 24: return numbers.next(3) == 0 ? .turnOff : .turnOn
                case 25: return numbers.next(2) == 0 ? .chargeNow : .redeem(index % 3)
                case 26: return .refund(index, revokes: numbers.next(2) == 0)
                case 27: return .reverse(index)
                case 29: return .raise(index < 4 ? 120 : 900, days: Int64(index) * 10)
                case 30: return index < 6 ? .agree : .decline
                case 31: return [.ask, .ask, .withdraw][index % 3]
                case 28: return .price([nil, 450, 999, 100_000][Int(numbers.next(4))])
                default:
                    let last: [Step] = [
                        .turnOff, .end, .turnOn, .turnOn, .turnOff, .extend(index * 12 + 1),
                    ]
                    return last[Int(numbers.next(6))]
                }
            }
    }
}

/// Numbers that follow from a seed.
private struct Numbers {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next(_ bound: UInt64) -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % bound
    }
}

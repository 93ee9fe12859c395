import EventTypes
import Testing
import TestSupport

@testable import Payments

/// Random walks of the store's clock, with machines whose clock also runs backwards.
@Suite struct ClockWalkTests {
    /// A clock, with what a store would keep beside it.
    struct Walk {
        var state = ClockState()
        var machineTime = MachineTime(
            millisecondsSinceEpoch: startTime.millisecondsSinceEpoch
        )
        var advances: [IdempotencyKey: ClockAdvance] = [:]
        var steps: [(step: Int64, clock: StoreClock)] = []
        let end = startTime.advanced(by: .seconds(9000 * 86_400))

        var now: StoreTime {
            var followed = state.followed
            return followed.now(at: machineTime)
        }

        mutating func apply(_ command: ClockCommand) -> ClockMove {
            let machine = ClockStateMachine(machineTime: machineTime, end: end)
            let move = machine.apply(command, to: state)
            if case .moved(let next) = move {
                if next.followed.step != state.followed.step {
                    steps.append((next.followed.step, next.followed.clock))
                }
                if case .advance(_, let key, _) = command, case .advancing(let new) = next.status {
                    advances[key] = new
                }
                state = next
            }
            return move
        }

        /// A command; advances are repeated now and then under the key that they had.
        func command(using random: inout some RandomNumberGenerator) -> ClockCommand {
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3:
                let key = IdempotencyKey(
                    unchecked: "key-\(Int.random(in: 0..<40, using: &random))"
                )
                let earlier = advances[key]
                let seconds = Int64.random(in: -1000...9_000_000, using: &random)
                let amount = ClockAdvance.Amount.by(.seconds(seconds))
                let repeats = Bool.random(using: &random)
                return .advance(
                    repeats ? earlier?.amount ?? amount : amount,
                    key: key,
                    earlier: earlier
                )
            case 4, 5:
                return .reach(
                    now.advanced(by: .seconds(Int64.random(in: -100...900_000, using: &random)))
                )
            case 6: return .reach(nil)
            case 7, 8: return .finish
            case 9: return .fail(reason: "something is poisoned")
            case 10: return .resume
            default:
                let speed = Duration.seconds(Int64.random(in: 1...100, using: &random))
                let rate = ClockRate(speed, each: .seconds(1)) ?? .one
                return Bool.random(using: &random) ? .freeze : .run(rate)
            }
        }
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func aClockNeverRunsBackwardsAndAnAdvanceIsMadeOnce(seed: RandomSeed) {
        var random = seed.generator()
        for round in 0..<300 {
            var walk = Walk()
            var latest = walk.now
            for _ in 0..<60 {
                let elapsed = Int64.random(in: -2000...60_000, using: &random)
                walk.machineTime = walk.machineTime.advanced(by: .milliseconds(elapsed))
                let before = walk.state
                let command = walk.command(using: &random)
                let move = walk.apply(command)
                let wasSet = before.followed.clock != .machines
                #expect(!wasSet || walk.now >= latest, "round \(round), after \(command)")
                latest = walk.now
                walk.state.followed = kept(walk.state.followed, at: walk.machineTime)
                check(command, move, from: before, to: walk.state, "round \(round)")
            }
            #expect(walk.steps.map(\.step) == Array(0..<Int64(walk.steps.count)).map { $0 + 1 })
        }
    }

    /// The clock after its time was read.
    private func kept(_ clock: FollowedClock, at time: MachineTime) -> FollowedClock {
        var clock = clock
        _ = clock.now(at: time)
        return clock
    }

    /// Checks that one command did what it may do, and no more.
    private func check(
        _ command: ClockCommand,
        _ move: ClockMove,
        from before: ClockState,
        to after: ClockState,
        _ round: Comment
    ) {
        let steps = after.followed.step - before.followed.step
        guard case .moved = move else {
            #expect(steps == 0 && after.status == before.status, round)
            return
        }
        #expect((0...1).contains(steps), round)
        if case .advancing(let advance) = after.status {
            guard case .frozen(let time) = after.followed.clock else {
                Issue.record("the clock runs during an advance: \(round)")
                return
            }
            #expect(time >= advance.start && time <= advance.target, round)
        }
        if case .advance(_, let key, let earlier) = command {
            #expect(earlier == nil, "\(round): the advance \(key) was made twice")
        }
        if case .advancing(let advance) = before.status, after.status == .ready {
            #expect(after.followed.latest == advance.target, round)
        }
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func whoHearsOfAllStepsInAnyOrderHasTheOwnersClock(seed: RandomSeed) {
        var random = seed.generator()
        for _ in 0..<300 {
            var walk = Walk()
            for _ in 0..<40 {
                walk.machineTime = walk.machineTime.advanced(by: .seconds(1))
                _ = walk.apply(walk.command(using: &random))
            }
            var follower = FollowedClock()
            for (step, clock) in (walk.steps + walk.steps).shuffled(using: &random) {
                follower.follow(clock, step: step)
            }
            #expect(follower.step == walk.state.followed.step)
            #expect(follower.clock == walk.state.followed.clock)
        }
    }
}

import EventTypes
import Testing
import TestSupport

@testable import Payments

@Suite struct ClockStateMachineTests {
    static let day = Duration.seconds(86_400)
    static let end = startTime.advanced(by: day * 4000)
    static let noon = MachineTime(millisecondsSinceEpoch: startTime.millisecondsSinceEpoch)

    let machine = ClockStateMachine(machineTime: noon, end: end)
    let frozen = ClockState(followed: FollowedClock(.frozen(at: startTime), step: 1))

    /// The state after some commands, each of which has to move the clock.
    func state(_ state: ClockState, after commands: ClockCommand...) throws -> ClockState {
        try commands.reduce(state) { state, command in
            guard case .moved(let next) = machine.apply(command, to: state) else {
                throw NotMoved(command: command, move: machine.apply(command, to: state))
            }
            return next
        }
    }

    struct NotMoved: Error {
        let command: ClockCommand
        let move: ClockMove
    }

    func month(_ key: IdempotencyKey = "a") -> ClockCommand {
        .advance(.by(Self.day * 31), key: key, earlier: nil)
    }

    func pending(in state: ClockState) -> ClockAdvance? {
        switch state.status {
        case .ready: nil
        case .advancing(let advance), .failed(let advance, _): advance
        }
    }

    @Test func anAdvanceStopsAtEachTimeAtWhichSomethingIsDue() throws {
        let due = startTime.advanced(by: Self.day)
        let target = startTime.advanced(by: Self.day * 31)
        var current = try state(frozen, after: month(), .reach(due))
        #expect(current.followed.clock == .frozen(at: due) && current.followed.step == 2)
        #expect(machine.apply(.reach(due), to: current) == .unchanged)
        current = try state(current, after: .reach(nil))
        #expect(current.followed.clock == .frozen(at: target) && current.followed.step == 3)
        current = try state(current, after: .finish)
        #expect(current.status == .ready && current.followed.step == 3)
    }

    @Test func whatIsDueAfterTheTargetDoesNotMoveTheClockBeyondIt() throws {
        let current = try state(
            frozen,
            after: month(),
            .reach(startTime.advanced(by: Self.day * 40))
        )
        #expect(current.followed.clock == .frozen(at: startTime.advanced(by: Self.day * 31)))
    }

    @Test func whatIsOverdueIsDoneWhereTheClockStands() throws {
        let advancing = try state(frozen, after: month())
        let overdue = startTime.advanced(by: .seconds(-5))
        #expect(machine.apply(.reach(overdue), to: advancing) == .unchanged)
    }

    @Test func anAdvanceDoesNotEndBeforeItsTarget() throws {
        let advancing = try state(frozen, after: month())
        let advance = try #require(pending(in: advancing))
        #expect(machine.apply(.finish, to: advancing) == .refused(.notAtTarget(advance)))
    }

    @Test func aRunningClockStandsStillWhileItAdvancesAndRunsOnAfterwards() throws {
        let rate = try #require(ClockRate(Self.day, each: .seconds(3600)))
        let running = try state(ClockState(), after: .run(rate))
        let advancing = try state(running, after: month())
        #expect(advancing.followed.clock == .frozen(at: startTime))
        let ended = try state(advancing, after: .reach(nil), .finish)
        let target = startTime.advanced(by: Self.day * 31)
        #expect(
            ended.followed.clock
                == .running(from: target, since: Self.noon, rate: rate, end: Self.end)
        )
    }

    @Test func aClockThatWasNeverSetRunsOnAtTheMachinesRate() throws {
        let ended = try state(ClockState(), after: month(), .reach(nil), .finish)
        guard case .running(_, _, let rate, _) = ended.followed.clock else {
            Issue.record("it does not run: \(ended)")
            return
        }
        #expect(rate == .one)
    }

    @Test func theSameKeyIsTheSameAdvance() throws {
        let advancing = try state(frozen, after: month())
        let first = try #require(pending(in: advancing))
        let again = ClockCommand.advance(.by(Self.day * 31), key: "a", earlier: first)
        let ended = try state(advancing, after: .reach(nil), .finish)
        let failed = try state(advancing, after: .fail(reason: "a poisoned event"))
        for state in [advancing, ended, failed] {
            #expect(machine.apply(again, to: state) == .unchanged)
        }
        let other = ClockCommand.advance(.by(Self.day), key: "a", earlier: first)
        #expect(machine.apply(other, to: ended) == .refused(.keyReused))
    }

    @Test func anAdvanceOnItsWayRefusesEveryOtherCommand() throws {
        let advancing = try state(frozen, after: month())
        let advance = try #require(pending(in: advancing))
        for command in [month("b"), .freeze, .run(.one)] {
            #expect(machine.apply(command, to: advancing) == .refused(.advancing(advance)))
        }
    }

    @Test func aFailedAdvanceStandsStillUntilItIsResumed() throws {
        let failed = try state(frozen, after: month(), .fail(reason: "a poisoned event"))
        let advance = try #require(pending(in: failed))
        for command in [month("b"), .freeze, .run(.one)] {
            #expect(
                machine.apply(command, to: failed)
                    == .refused(.failed(advance, reason: "a poisoned event"))
            )
        }
        for command in [ClockCommand.reach(nil), .finish] {
            #expect(machine.apply(command, to: failed) == .refused(.notAdvancing))
        }
        let resumed = try state(failed, after: .resume)
        #expect(resumed.status == .advancing(advance))
        #expect(machine.apply(.resume, to: resumed) == .unchanged)
        #expect(machine.apply(.resume, to: frozen) == .refused(.notFailed))
    }

    @Test func theTargetLiesInTheFutureWithinReachAndWithinTheCertificates() {
        func refusal(_ amount: ClockAdvance.Amount) -> ClockMove {
            machine.apply(.advance(amount, key: "a", earlier: nil), to: frozen)
        }
        let backwards = ClockMove.refused(.movesForward(now: startTime))
        #expect(refusal(.to(startTime)) == backwards)
        #expect(refusal(.by(.zero)) == backwards)
        #expect(refusal(.by(.seconds(Int64.min))) == backwards)
        #expect(refusal(.by(.seconds(Int64.max))) == .refused(.tooFar))
        #expect(
            refusal(.by(ClockStateMachine.distanceMax + .milliseconds(1))) == .refused(.tooFar)
        )
        let near = ClockStateMachine(machineTime: Self.noon, end: startTime.advanced(by: Self.day))
        #expect(
            near.apply(month(), to: frozen)
                == .refused(.beyondCertificates(end: startTime.advanced(by: Self.day)))
        )
    }

    @Test func aClockAtTheEndOfTheCertificatesDoesNotRun() {
        let machine = ClockStateMachine(machineTime: Self.noon, end: startTime)
        #expect(
            machine.apply(.run(.one), to: frozen) == .refused(.beyondCertificates(end: startTime))
        )
    }

    @Test func aRunningClockGoesOnToTheEndOfRenewedCertificates() throws {
        let running = try state(frozen, after: .run(.one))
        let end = Self.end.advanced(by: Self.day)
        let renewed = ClockStateMachine(machineTime: Self.noon, end: end)
        guard case .moved(let next) = renewed.apply(.run(.one), to: running) else {
            Issue.record("it still stops at the former end")
            return
        }
        #expect(
            next.followed.clock == .running(from: startTime, since: Self.noon, rate: .one, end: end)
        )
    }

    @Test func freezingAndRunningTwiceChangesNothing() throws {
        let running = try state(frozen, after: .run(.one))
        #expect(machine.apply(.run(.one), to: running) == .unchanged)
        #expect(machine.apply(.run(.one), to: ClockState()) == .unchanged)
        let stopped = try state(running, after: .freeze)
        #expect(stopped.followed.clock == .frozen(at: startTime))
        #expect(machine.apply(.freeze, to: stopped) == .unchanged)
    }
}

import EventTypes

/// The state machine of the store's clock.
///
/// An advance stops at each time at which something is due, so that everything is done at its own
/// time. No command moves the clock backwards, and an advance is made once under its key.
///
/// Pure: the machines' time and the end of the certificates come in as arguments.
struct ClockStateMachine {
    /// The largest distance of an advance: five years.
    ///
    /// A longer distance takes several advances.
    static let distanceMax = Duration.seconds(5 * 366 * 86_400)

    let machineTime: MachineTime
    /// The last time at which receipts can be signed.
    let end: StoreTime

    func apply(_ command: ClockCommand, to state: ClockState) -> ClockMove {
        switch command {
        case .advance(let amount, let key, let earlier):
            advance(amount, key, earlier, state)
        case .reach(let next): reach(next, state)
        case .finish: finish(state)
        case .fail(let reason): fail(reason, state)
        case .resume: resume(state)
        case .freeze: freeze(state)
        case .run(let rate): run(rate, state)
        }
    }

    private func advance(
        _ amount: ClockAdvance.Amount,
        _ key: IdempotencyKey,
        _ earlier: ClockAdvance?,
        _ state: ClockState
    ) -> ClockMove {
        if let earlier { return earlier.amount == amount ? .unchanged : .refused(.keyReused) }
        if let refusal = refusal(state) { return .refused(refusal) }
        var next = state
        let now = next.read(at: machineTime)
        let target = target(of: amount, from: now)
        guard target > now else { return .refused(.movesForward(now: now)) }
        guard target <= now.advanced(by: Self.distanceMax) else { return .refused(.tooFar) }
        guard target <= end else { return .refused(.beyondCertificates(end: end)) }
        let advance = ClockAdvance(
            key: key,
            amount: amount,
            start: now,
            target: target,
            rateAfter: rate(of: state.followed.clock)
        )
        next.status = .advancing(advance)
        stand(at: now, &next)
        return .moved(next)
    }

    private func reach(_ upcoming: StoreTime?, _ state: ClockState) -> ClockMove {
        guard case .advancing(let advance) = state.status else { return .refused(.notAdvancing) }
        var next = state
        let now = next.read(at: machineTime)
        // Overdue work is done at the present time.
        let time = max(now, min(upcoming ?? advance.target, advance.target))
        stand(at: time, &next)
        return next == state ? .unchanged : .moved(next)
    }

    private func finish(_ state: ClockState) -> ClockMove {
        guard case .advancing(let advance) = state.status else { return .refused(.notAdvancing) }
        var next = state
        let now = next.read(at: machineTime)
        guard now >= advance.target else { return .refused(.notAtTarget(advance)) }
        next.status = .ready
        if let rate = advance.rateAfter { run(from: now, at: rate, &next) }
        return .moved(next)
    }

    private func fail(_ reason: String, _ state: ClockState) -> ClockMove {
        guard case .advancing(let advance) = state.status else { return .refused(.notAdvancing) }
        var next = state
        next.status = .failed(advance, reason: reason)
        return .moved(next)
    }

    private func resume(_ state: ClockState) -> ClockMove {
        switch state.status {
        case .ready: return .refused(.notFailed)
        case .advancing: return .unchanged
        case .failed(let advance, _):
            var next = state
            next.status = .advancing(advance)
            return .moved(next)
        }
    }

    private func freeze(_ state: ClockState) -> ClockMove {
        if let refusal = refusal(state) { return .refused(refusal) }
        if case .frozen = state.followed.clock { return .unchanged }
        var next = state
        stand(at: next.read(at: machineTime), &next)
        return .moved(next)
    }

    private func run(_ rate: ClockRate, _ state: ClockState) -> ClockMove {
        if let refusal = refusal(state) { return .refused(refusal) }
        if isRunning(state.followed.clock, at: rate) { return .unchanged }
        var next = state
        let now = next.read(at: machineTime)
        guard now < end else { return .refused(.beyondCertificates(end: end)) }
        run(from: now, at: rate, &next)
        return .moved(next)
    }

    /// The refusal of commands that need a clock that is ready.
    private func refusal(_ state: ClockState) -> ClockRefusal? {
        switch state.status {
        case .ready: nil
        case .advancing(let advance): .advancing(advance)
        case .failed(let advance, let reason): .failed(advance, reason: reason)
        }
    }

    private func target(of amount: ClockAdvance.Amount, from now: StoreTime) -> StoreTime {
        switch amount {
        case .to(let time): time
        case .by(let duration):
            // A longer distance is refused as well, and its number might not fit.
            now.advanced(by: max(.zero, min(duration, Self.distanceMax + .seconds(1))))
        }
    }

    /// The rate of a clock; `nil` if it is frozen.
    private func rate(of clock: StoreClock) -> ClockRate? {
        switch clock {
        case .machines: .one
        case .frozen: nil
        case .running(_, _, let rate, _): rate
        }
    }

    /// Whether a clock runs at a rate, to the present end of the certificates.
    private func isRunning(_ clock: StoreClock, at rate: ClockRate) -> Bool {
        switch clock {
        case .machines: rate == .one
        case .frozen: false
        case .running(_, _, let present, let last): present == rate && last == end
        }
    }

    /// Freezes the clock at a time, by a new step unless it is frozen there already.
    private func stand(at time: StoreTime, _ state: inout ClockState) {
        guard state.followed.clock != .frozen(at: time) else { return }
        state.followed.follow(.frozen(at: time), step: state.followed.step + 1)
        _ = state.read(at: machineTime)
    }

    /// Runs the clock, by a new step.
    private func run(from time: StoreTime, at rate: ClockRate, _ state: inout ClockState) {
        state.followed.follow(
            .running(from: time, since: machineTime, rate: rate, end: end),
            step: state.followed.step + 1
        )
        _ = state.read(at: machineTime)
    }
}

import ServiceFoundation

extension WorkLook {
    /// Makes a look that wakes the runners of three parts.
    ///
    /// - Parameters:
    ///   - renewals: The parts that renew, extend and announce.
    ///   - charging: The parts that charge.
    ///   - accounts: The parts that share with families.
    ///   - frame: The parts of every service.
    init(
        for renewals: RenewalParts,
        _ charging: ChargingParts,
        _ accounts: AccountParts,
        on frame: ServiceFrame
    ) {
        let (due, extensions) = (renewals.runner, renewals.extensions)
        let (enrolments, families) = (renewals.enrolments, accounts.runner)
        let attempts = charging.runner
        self.init(
            store: WorkLookStore(client: frame.client),
            now: frame.storeNow,
            machineNow: frame.machineNow,
            logger: frame.logger
        ) { kind in
            switch kind {
            case .renewals: due.wake()
            case .extensions: extensions.wake()
            case .enrolments: enrolments.wake()
            case .families: families.wake()
            case .attempts: attempts.wake()
            }
        }
    }
}

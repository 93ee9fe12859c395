import ServiceFoundation

extension WorkLook {
    /// Makes a look that wakes the runners of two parts.
    ///
    /// - Parameters:
    ///   - renewals: The parts that renew, extend and announce.
    ///   - accounts: The parts that share with families.
    ///   - frame: The parts of every service.
    init(for renewals: RenewalParts, _ accounts: AccountParts, on frame: ServiceFrame) {
        let (due, extensions) = (renewals.runner, renewals.extensions)
        let (enrolments, families) = (renewals.enrolments, accounts.runner)
        let store = WorkLookStore(client: frame.client)
        self.init(store: store, now: frame.storeNow, logger: frame.logger) { kind in
            switch kind {
            case .renewals: due.wake()
            case .extensions: extensions.wake()
            case .enrolments: enrolments.wake()
            case .families: families.wake()
            }
        }
    }
}

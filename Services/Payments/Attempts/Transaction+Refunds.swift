import EventTypes

extension Transaction {
    /// The minor units that are left to refund.
    ///
    /// Refunds that were accepted and are not confirmed yet count as refunded. Those that have failed
    /// do not, and those that the transaction has already do not count twice.
    func refundRest(with attempts: [ProcessorAttempt]) -> Int64 {
        attempts.filter { $0.kind == .refund && $0.step.isOpenAtProcessor && !$0.isMadeAgain }
            .reduce(refundableAmount.minorUnits) { $0 - $1.amount.minorUnits }
    }

    /// The number of the next refund.
    func nextRefundNumber(with attempts: [ProcessorAttempt]) -> Int {
        let made = attempts.filter { $0.kind == .refund }.map(\.number)
        return ((refunds ?? []).map(\.number) + made).reduce(0, max) + 1
    }
}

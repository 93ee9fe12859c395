import StoreAPI

/// The payment methods of charges as the tests of accounts want them.
///
/// The sandbox's processor does what the name of a payment method says. So a test that wants another
/// outcome has another method charged.
///
/// Pure. The caller hands in the settings, and writes those that changed.
struct SimulatedCharges: Sendable {
    private var settings: [AccountKey: TestSettingsDocument]
    /// The settings that are used up in part.
    private(set) var changed: [AccountKey: TestSettingsDocument] = [:]

    /// Begins with the settings of the accounts of a batch.
    init(_ settings: [AccountKey: TestSettingsDocument]) { self.settings = settings }

    /// Whether a test wants purchases of an account to wait for approval.
    func asksToBuy(_ account: AccountKey) -> Bool { settings[account]?.asksToBuy == true }

    /// The method to charge.
    ///
    /// - Parameters:
    ///   - method: The method that was asked for.
    ///   - account: The account that pays.
    ///   - isRenewal: Whether the store makes the charge by itself.
    /// - Returns: The same method if no test wants another one.
    mutating func method(
        insteadOf method: PaymentMethod,
        of account: AccountKey,
        isRenewal: Bool
    ) -> PaymentMethod {
        guard let wanted = settings[account] else { return method }
        if let failure = wanted.failNext {
            let rest = (failure.times ?? 1) - 1
            settings[account]?.failNext =
                rest > 0 ? SimulatedFailure(failure.reason, times: rest) : nil
            changed[account] = settings[account]
            return failure.reason.method
        }
        if isRenewal {
            return wanted.declinesRenewals == true
                ? SandboxPaymentMethod.decline.method : method
        }
        if wanted.interruptsPurchases == true { return SandboxPaymentMethod.interrupted.method }
        return wanted.asksToBuy == true ? SandboxPaymentMethod.needsApproval.method : method
    }
}

extension SimulatedFailure.Reason {
    /// The sandbox's payment method that fails for the reason.
    fileprivate var method: PaymentMethod {
        switch self {
        case .declined: SandboxPaymentMethod.decline.method
        case .insufficientFunds: SandboxPaymentMethod.insufficientFunds.method
        case .cancelled: SandboxPaymentMethod.cancelled.method
        case .interrupted: SandboxPaymentMethod.interrupted.method
        }
    }
}

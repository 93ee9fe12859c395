import EventTypes
import StoreAPI
import StoreHarness

extension ChaosBuyers {
    /// The advances of the clock after which all subscribers of a product are extended.
    private static let advancesBeforeExtension = 3

    /// Buys a subscription, or decides something about the one that the account has.
    func subscribe(
        _ index: Int,
        key: String,
        using random: inout SeededGenerator
    ) async throws {
        let product = SampleCatalog.clubs.randomElement(using: &random) ?? SampleCatalog.club
        let choice = Int.random(in: 0..<10, using: &random)
        let methods: [SandboxPaymentMethod] = [
            .success, .success, .renewalRecovers, .renewalDeclined, .unknownCharged,
            .unknownNotCharged, .slow, .flaky, .decline, .needsApproval,
        ].filter(isKnown)
        let method = methods.randomElement(using: &random) ?? .success
        let known = try await subscriptions(of: index).first
        if known?.state == .inGracePeriod { acts.note(.graceSeen) }
        guard choice > 3, let subscription = known else {
            let request = try payment(for: product, by: method, after: known, using: &random)
            try await pay(request, index, key: key)
            return
        }
        switch choice {
        case 4, 5: try await setAutoRenew(false, of: subscription.id, index)
        case 6, 7: try await setAutoRenew(true, of: subscription.id, index)
        case 8:
            try await note(
                untilAnswered("a choice of a product", by: .payments) { urls in
                    try await client(index, urls).choose(product, for: subscription.id)
                }
            )
        default:
            // Of two answers to one request, the first may have been lost. A second refund is refused.
            _ = try await untilAnswered("a refund of a period", by: .payments) { urls in
                try await administrator(urls).refund(subscription.period.transactionID)
            }
        }
    }

    private func setAutoRenew(_ isOn: Bool, of id: TransactionID, _ index: Int) async throws {
        try await note(
            untilAnswered("a change of auto-renew", by: .payments) { urls in
                try await client(index, urls).setAutoRenew(isOn, of: id)
            }
        )
    }

    /// Advances the store's clock until the buying has ended, each time by some days, so that it stops
    /// within periods; in between, all subscribers of a product are extended once.
    ///
    /// - Parameter passed: Called with the number of days after each advance.
    /// - Throws: ``HarnessError`` if the store does not answer after the end of all faults.
    func passTime(_ passed: @escaping @Sendable (Int) -> Void) async throws {
        var random = SeededGenerator(seed: seed &* 43)
        var number = 0
        while isOpen {
            number += 1
            let days = Int.random(in: 1...31, using: &random)
            guard try await advanceClock(days: days, key: "chaos-clock-\(number)") else { break }
            passed(days)
            if number == Self.advancesBeforeExtension { try await extendAll() }
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...800, using: &random)))
        }
        if acts.massExtension == nil { try await extendAll() }
    }

    /// Advances the store's clock, and waits until everything on the way is done.
    ///
    /// - Returns: Whether it got there; if not, the certificates end before.
    func advanceClock(days: Int, key: String) async throws -> Bool {
        let begun = try await untilAnswered("an advance of the clock", by: .payments) { urls in
            try await administrator(urls).advanceClock(by: "\(days)d", key: key)
        }
        guard let target = begun.valueIfAny?.target else {
            note(refusal: begun.problem?.code ?? "\(begun.status)")
            return false
        }
        while true {
            let clock = try await untilAnswered("the clock", by: .payments) { urls in
                try await administrator(urls).clock()
            }.value
            switch clock.status {
            case .ready where clock.now >= target: return true
            case .failed:
                _ = try await untilAnswered("a resumption of the clock", by: .payments) { urls in
                    try await administrator(urls).resumeClock()
                }
            case .ready, .advancing: break
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

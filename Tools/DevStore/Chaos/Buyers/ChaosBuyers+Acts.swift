import EventTypes
import StoreAPI
import StoreHarness

/// The acts of buyers and administrators besides purchases.
extension ChaosBuyers {
    /// The accounts in a family.
    private static let familySize = 3

    /// Redeems a code, changes a family, raises a price or extends a period.
    ///
    /// - Parameters:
    ///   - index: The account.
    ///   - key: A key of this act alone.
    ///   - random: The source of what is chosen.
    /// - Throws: ``HarnessError`` if the store does not answer after the end of all faults.
    func doMore(
        _ index: Int,
        key: String,
        using random: inout SeededGenerator
    ) async throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: try await redeemCode(index)
        case 2...4: try await changeFamily(index, using: &random)
        case 5, 6: try await raisePrice(index, asTest: false)
        case 7, 8: try await raisePrice(index, asTest: true)
        default:
            let days = Int.random(in: 1...30, using: &random)
            try await extend(index, by: days, key: key)
        }
    }

    /// Types the code on the store's page, and confirms what it gives.
    ///
    /// The payment arrives in the queue by itself.
    private func redeemCode(_ index: Int) async throws {
        let opened = try await untilAnswered("a page for codes", by: .payments) { urls in
            try await client(index, urls).openCodePage()
        }
        guard let ticket = opened.valueIfAny?.path.split(separator: "=").last else {
            note(refusal: opened.problem?.code ?? "code page \(opened.status)")
            return
        }
        let typed = ["ticket": String(ticket), "code": SampleCodes.word]
        let asked = try await untilAnswered("a code", by: .payments) { urls in
            try await client(index, urls).sendCodeForm(typed)
        }
        guard let mark = asked.valueIfAny.flatMap({ StoreClient.confirmation(in: $0) }) else {
            note(refusal: "code \(asked.status)")
            return
        }
        let confirmed = typed.merging(["confirmed": mark]) { $1 }
        let redeemed = try await untilAnswered("a redemption", by: .payments) { urls in
            try await client(index, urls).sendCodeForm(confirmed)
        }
        if redeemed.valueIfAny == nil { note(refusal: "redemption \(redeemed.status)") }
    }

    /// Makes the family of three neighbours, changes it or ends it, or lets the account leave it.
    private func changeFamily(_ index: Int, using random: inout SeededGenerator) async throws {
        let first = index / Self.familySize * Self.familySize
        let others = (first..<min(first + Self.familySize, accounts)).dropFirst().map(account)
        guard let other = others.randomElement(using: &random) else { return }
        let choice = Int.random(in: 0..<8, using: &random)
        let found = try await untilAnswered("a family", by: .payments) { urls in
            try await client(first, urls).family()
        }
        guard let family = found.valueIfAny?.family else {
            try await note(
                .familyMade,
                untilAnswered("a new family", by: .payments) { urls in
                    try await administrator(urls).makeFamily(of: account(first), with: others)
                }
            )
            return
        }
        switch choice {
        case 0:
            guard family.members.contains(where: { $0.accountID == account(index) }) else { return }
            try await note(
                .familyLeft,
                untilAnswered("a member's leaving", by: .payments) { urls in
                    try await client(index, urls).leaveFamily()
                }
            )
        case 1:
            try await note(
                .familyEnded,
                untilAnswered("the end of a family", by: .payments) { urls in
                    try await administrator(urls).end(family.id)
                }
            )
        default:
            // Every other member who is chosen ceases to share, or shares again.
            let isSharing = choice.isMultiple(of: 2)
            try await note(
                .familyChanged,
                untilAnswered("a member", by: .payments) { urls in
                    try await administrator(urls).include(other, sharing: isSharing, in: family.id)
                }
            )
        }
    }

    /// Raises the price of the account's subscription.
    ///
    /// An administrator raises it to that of the catalog, which is refused before the catalog's has
    /// risen. The catalog raises it, too; whoever is first does. In a sandbox, a test may ask about a
    /// higher price at any time.
    private func raisePrice(_ index: Int, asTest: Bool) async throws {
        guard let subscription = try await subscriptions(of: index).first,
            let product = subscription.nextProduct, let raised = Self.raisedPrices[product.id]
        else { return }
        if asTest, store.stripe == nil {
            note(
                try await untilAnswered("a question about a price", by: .payments) { urls in
                    try await administrator(urls).ask(about: raised, of: subscription.id)
                }
            )
        } else {
            note(
                try await untilAnswered("a higher price", by: .payments) { urls in
                    try await administrator(urls).raise(subscription.id, of: product.id, to: raised)
                }
            )
        }
    }

    /// Answers the questions about higher prices that the account was asked.
    func answerRaises(_ index: Int, using random: inout SeededGenerator) async throws {
        for subscription in try await subscriptions(of: index) {
            guard let increase = subscription.priceIncrease, increase.status == .pending else {
                continue
            }
            try await answerRaise(increase, of: subscription.id, index, using: &random)
        }
    }

    /// Agrees to a higher price, in three of four cases; one of five subscribers never answers.
    private func answerRaise(
        _ increase: PriceIncrease,
        of id: TransactionID,
        _ index: Int,
        using random: inout SeededGenerator
    ) async throws {
        let agrees = Int.random(in: 0..<4, using: &random) > 0
        guard id.number % 5 != 0 else { return }
        let answer = try await untilAnswered("an answer to a higher price", by: .payments) { urls in
            try await client(index, urls).answer(
                agrees ? .agree : .decline,
                to: increase,
                of: id
            )
        }
        note(answer)
    }

    /// Looks at what became of a subscription, or counts the refusal.
    func note(_ answer: StoreAnswer<SubscriptionResponse>) {
        guard let subscription = answer.valueIfAny?.subscription else {
            return note(refusal: answer.problem?.code ?? "\(answer.status)")
        }
        if let increase = subscription.priceIncrease {
            acts.note(increase, of: subscription.id)
        }
    }

    private func extend(_ index: Int, by days: Int, key: String) async throws {
        guard let id = try await subscriptions(of: index).first?.id else { return }
        try await note(
            .extended,
            untilAnswered("an extension", by: .payments) { urls in
                try await administrator(urls).extend(id, by: days, key: key)
            }
        )
    }

    /// The subscriptions of an account.
    func subscriptions(of index: Int) async throws -> [Subscription] {
        let answer = try await untilAnswered("a list of subscriptions", by: .payments) { urls in
            try await client(index, urls).subscriptions()
        }
        let found = answer.valueIfAny?.subscriptions ?? []
        for subscription in found {
            guard let increase = subscription.priceIncrease else { continue }
            acts.note(increase, of: subscription.id)
        }
        return found
    }

    // MARK: - Refunds

    /// Refunds every twentieth purchase, and lets the buyers of as many others ask for a refund.
    func giveBack(_ transaction: Transaction, _ index: Int) async throws {
        guard transaction.state == .purchased, transaction.reason != .familyShared else { return }
        switch transaction.id.number % 20 {
        case 0:
            _ = try await untilAnswered("a refund", by: .payments) { urls in
                try await administrator(urls).refund(transaction.id)
            }
        case 10: try await askForRefund(of: transaction.id, index)
        default: return
        }
    }

    /// Asks for a refund, and approves every other request.
    private func askForRefund(of id: TransactionID, _ index: Int) async throws {
        let asked = try await untilAnswered("a request for a refund", by: .payments) { urls in
            try await client(index, urls).askForRefund(of: id, key: "chaos-refund-\(id)")
        }
        note(.refundAsked, asked)
        guard let number = asked.valueIfAny?.request.number else { return }
        let decision: RefundDecisionRequest.Decision =
            id.number % 40 == 10 ? .approve : .decline
        try await note(
            decision == .approve ? .refundApproved : .refundDeclined,
            untilAnswered("a decision about a refund", by: .payments) { urls in
                try await administrator(urls).decide(decision, on: number, of: id)
            }
        )
    }

    /// Counts an act, or its refusal.
    private func note<Value>(_ kind: ChaosActs.Kind, _ answer: StoreAnswer<Value>) {
        guard answer.valueIfAny == nil else { return acts.note(kind) }
        note(refusal: answer.problem?.code ?? "\(answer.status)")
    }
}

public import EventTypes
public import StoreAPI

/// The action of one step.
public indirect enum ScenarioAction: Sendable, CustomStringConvertible {
    /// A device pays for a product.
    case buy(ScenarioPurchase)
    /// The parent decides about a payment.
    case decide(ApprovalRequest.Decision, payment: String, refused: String?)
    /// The merchant refunds a payment.
    case refund(payment: String, amount: Money?, revokes: Bool?, refused: String?)
    /// The money of a refund comes back.
    case reverse(payment: String, refund: Int, refused: String?)
    /// The buyer decides about a charge on the page of their bank.
    case confirm(SandboxActionRequest.Decision, payment: String, refused: String?)
    /// The buyer's bank takes a step of a dispute about a payment.
    case dispute(TestDisputeRequest.Step, payment: String, refused: String?)
    /// An interrupted payment goes on under another name.
    case resume(payment: String, name: String, refused: String?)
    /// A device restores what its account owns.
    case restore(device: String)
    /// The app finishes a transaction.
    case finish(payment: String, device: String)
    /// The buyer decides whether a subscription renews.
    case autoRenew(Bool, payment: String, refused: String?)
    /// The buyer chooses the next product of a subscription.
    case choose(product: String, payment: String, refused: String?)
    /// The merchant extends a subscription for nothing.
    case extend(payment: String, days: Int, refused: String?)
    /// The administrator makes a family of an organizer and others.
    case family(organizer: String, others: [String])
    /// A member leaves its family by itself.
    case leave(account: String, refused: String?)
    /// The buyer asks for a refund, and the administrator decides.
    case ask(payment: String, RefundDecisionRequest.Decision, refused: String?)
    /// An administrator makes codes.
    case campaign(ScenarioCampaign)
    /// The buyer types a code on the store's page.
    case redeem(ScenarioRedemption)
    /// The merchant schedules a price.
    case price(ScenarioPriceChange)
    /// The subscriber answers the question about a higher price.
    case consent(PriceIncreaseDecisionRequest.Decision, payment: String, refused: String?)
    /// The store's clock goes forward.
    case advance(ClockSpan, isAwaited: Bool)
    /// The store's clock stands still, or runs at a rate.
    case clock(ScenarioClock)
    /// So much time passes on the store's clock.
    case pass(ClockSpan)
    /// The app starts on a device.
    case start(device: String)
    /// The app is killed on a device.
    case stop(device: String)
    /// The administrator changes an account.
    case change(ScenarioAccount)
    /// A service is killed.
    case kill(ServiceName)
    /// A service that was killed starts again.
    case restart(ServiceName)
    /// A service stops without its noticing.
    case freeze(ServiceName)
    /// A frozen service goes on.
    case thaw(ServiceName)
    /// The store's next answers to a kind of request are lost.
    case drop(DroppedAnswer, times: Int)
    /// All events about a payment are sent once more.
    case duplicate(payment: String)
    /// All events about the periods of a subscription are sent once more, the newest first.
    case reorder(payment: String)
    /// The merchant's server answers with this status from now on.
    case answer(status: Int)
    /// Steps in an order that the seed decides.
    case shuffle([ScenarioStep])
    /// Facts that have to become true.
    case expect([ScenarioFact])
    /// A test has the sandbox do something with an account.
    case test(ScenarioTest)

    /// The step in words.
    public var description: String {
        switch self {
        case .buy(let purchase): purchase.description
        case .decide(.approve, let payment, let code): "approve '\(payment)'" + refusal(code)
        case .decide(.decline, let payment, let code): "decline '\(payment)'" + refusal(code)
        case .refund(let payment, let amount, let revokes, let code):
            "refund \(amount.map { "\($0) of " } ?? "")'\(payment)'"
                + (revokes.map { $0 ? ", take the product away" : ", leave the product" } ?? "")
                + refusal(code)
        case .reverse(let payment, let number, let code):
            "reverse refund \(number) of '\(payment)'" + refusal(code)
        case .confirm(let decision, let payment, let code):
            "\(decision == .complete ? "confirm" : "decline") '\(payment)' at the bank"
                + refusal(code)
        case .dispute(let step, let payment, let code):
            "dispute '\(payment)': \(step)" + refusal(code)
        case .resume(let payment, let name, let code):
            "resume '\(payment)' as '\(name)'" + refusal(code)
        case .restore(let device): "restore on '\(device)'"
        case .finish(let payment, let device): "finish '\(payment)' on '\(device)'"
        case .autoRenew(let isOn, let payment, let code):
            "\(isOn ? "renew" : "cancel") the subscription of '\(payment)'" + refusal(code)
        case .choose(let product, let payment, let code):
            "change the subscription of '\(payment)' to '\(product)'" + refusal(code)
        case .extend(let payment, let days, let code):
            "extend the subscription of '\(payment)' by \(days) days" + refusal(code)
        case .family(let organizer, let others):
            "make a family of '\(organizer)' and \(others.joined(separator: ", "))"
        case .leave(let account, let code): "leave the family as '\(account)'" + refusal(code)
        case .ask(let payment, let decision, let code):
            "ask for a refund of '\(payment)', and \(decision) it" + refusal(code)
        case .campaign(let campaign): campaign.description
        case .redeem(let redemption): redemption.description
        case .price(let change): change.description
        case .consent(let decision, let payment, let code):
            "answer the question about a higher price of '\(payment)': \(decision)" + refusal(code)
        case .advance(let span, let isAwaited):
            "advance the clock by \(span)" + (isAwaited ? "" : ", and do not wait for it")
        case .clock(let clock): clock.description
        case .pass(let span): "wait until \(span) have passed in the store"
        case .reorder(let payment):
            "send the events about the periods of '\(payment)' once more, the newest first"
        case .start(let device): "start the app on '\(device)'"
        case .stop(let device): "kill the app on '\(device)'"
        case .change(let account): "change the account '\(account.name)'"
        case .kill(let service): "kill \(service)"
        case .restart(let service): "start \(service) again"
        case .freeze(let service): "freeze \(service)"
        case .thaw(let service): "let \(service) go on"
        case .drop(let answer, let times):
            "lose the next \(times == 1 ? "answer" : "\(times) answers") to a \(answer.rawValue)"
        case .duplicate(let payment): "send the events about '\(payment)' once more"
        case .answer(let status): "let the merchant's server answer with \(status)"
        case .shuffle(let steps): "do \(steps.count) steps in any order"
        case .expect(let facts):
            "expect "
                + facts.map { "\($0.subject): \($0.expected)" }.joined(separator: "; ")
        case .test(let test): test.description
        }
    }

    private func refusal(_ code: String?) -> String {
        code.map { ", which is refused with \($0)" } ?? ""
    }
}

/// A payment of a scenario.
public struct ScenarioPurchase: Hashable, Sendable, CustomStringConvertible {
    /// The name by which later steps call it.
    public let name: String
    /// The product's name.
    public let product: String
    /// The device that pays.
    public let device: String
    /// The way in which the sandbox's processor answers.
    public let method: SandboxPaymentMethod
    /// The number of units.
    public let quantity: Int
    /// The offer that it redeems; `nil` for none.
    public let offer: ScenarioOffer?
    /// The code with which the store has to refuse the payment; `nil` if it has to accept it.
    public let refused: String?
    /// Whether the run goes on before the store has answered.
    public let isUnanswered: Bool

    /// The payment in words.
    public var description: String {
        "buy "
            + (quantity == 1 ? "" : "\(quantity) × ") + "'\(product)' on '\(device)'"
            + (name == product ? "" : " as '\(name)'")
            + (offer.map { " with the offer '\($0.name)'" } ?? "")
            + (method == .success ? "" : " by \(method.rawValue)")
            + (refused.map { ", which is refused with \($0)" } ?? "")
            + (isUnanswered ? ", and wait for no answer" : "")
    }
}

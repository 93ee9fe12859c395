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
    /// An interrupted payment goes on under another name.
    case resume(payment: String, name: String, refused: String?)
    /// A device restores what its account owns.
    case restore(device: String)
    /// The app finishes a transaction.
    case finish(payment: String, device: String)
    /// The store's clock goes forward.
    case advance(ClockSpan)
    /// The app starts on a device.
    case start(device: String)
    /// The app is killed on a device.
    case stop(device: String)
    /// The administrator changes an account.
    case change(ScenarioAccount)
    /// Steps in an order that the seed decides.
    case shuffle([ScenarioStep])
    /// Facts that have to become true.
    case expect([ScenarioFact])

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
        case .resume(let payment, let name, let code):
            "resume '\(payment)' as '\(name)'" + refusal(code)
        case .restore(let device): "restore on '\(device)'"
        case .finish(let payment, let device): "finish '\(payment)' on '\(device)'"
        case .advance(let span): "advance the clock by \(span)"
        case .start(let device): "start the app on '\(device)'"
        case .stop(let device): "kill the app on '\(device)'"
        case .change(let account): "change the account '\(account.name)'"
        case .shuffle(let steps): "do \(steps.count) steps in any order"
        case .expect(let facts):
            "expect "
                + facts.map { "\($0.subject): \($0.expected)" }.joined(separator: "; ")
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
    /// The code with which the store has to refuse the payment; `nil` if it has to accept it.
    public let refused: String?

    /// The payment in words.
    public var description: String {
        "buy "
            + (quantity == 1 ? "" : "\(quantity) × ") + "'\(product)' on '\(device)'"
            + (name == product ? "" : " as '\(name)'")
            + (method == .success ? "" : " by \(method.rawValue)")
            + (refused.map { ", which is refused with \($0)" } ?? "")
    }
}

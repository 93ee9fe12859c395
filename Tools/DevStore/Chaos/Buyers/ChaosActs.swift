import EventTypes
import Synchronization

/// The acts of a chaos run besides purchases, counted, and the rules of these acts that its
/// buyers can see broken.
final class ChaosActs: Sendable {
    /// The kinds of acts that the store has answered, as the report names them.
    enum Kind: String, CaseIterable, Sendable {
        case familyMade = "families made"
        case familyChanged = "members who joined, or share or not"
        case familyLeft = "members who left"
        case familyEnded = "families ended"
        case extended = "periods extended"
        case graceSeen = "looks at a subscription in grace"
        case refundAsked = "refunds asked for"
        case refundApproved = "of them approved"
        case refundDeclined = "of them declined"
    }

    /// The redemptions that the custom code has.
    let redemptionsMax: Int
    private let seen = Mutex(Seen())

    /// A higher price of a subscription.
    private struct Raise: Hashable {
        let subscription: TransactionID
        let increase: PriceChangeID
    }

    private struct Seen {
        var counts: [Kind: Int] = [:]
        /// The purchases by which each account has its introductory offer.
        var introductions: [AccountID: Set<TransactionID>] = [:]
        /// The purchases with an introductory offer that the merchant's server gave once more.
        var introducedAgain: Set<TransactionID> = []
        /// The purchases that hold a code, by account.
        var codes: [AccountID: Set<TransactionID>] = [:]
        var shares: Set<TransactionID> = []
        /// The purchases with an offer that is signed, and those of subscribers who came back with one.
        var promotional: Set<TransactionID> = []
        var wonBack: Set<TransactionID> = []
        /// The higher prices that subscriptions have got, with their subscribers' consent or without.
        var raises: Set<Raise> = []
        /// Those that subscribers were asked about.
        var asked: Set<Raise> = []
        /// The answers: whether the subscriber agreed.
        var answers: [Raise: Bool] = [:]
        /// The products whose old price was refused.
        var raised: Set<ProductID> = []
        /// The request to extend all subscribers, once it is carried out.
        var massExtension: MassExtension?
        /// The number of subscriptions that have its extension; `nil` before they are counted.
        var extended: Int64?
    }

    /// Begins to count.
    ///
    /// - Parameter redemptionsMax: The redemptions that the custom code has.
    init(redemptionsMax: Int) { self.redemptionsMax = redemptionsMax }

    /// Counts an act that the store has answered.
    func note(_ kind: Kind) { seen.withLock { $0.counts[kind, default: 0] += 1 } }

    /// Notes that the price of a product has risen.
    func noteRaise(of product: ProductID) { seen.withLock { _ = $0.raised.insert(product) } }

    /// Whether the price of a product has risen.
    func isRaised(_ product: ProductID) -> Bool { seen.withLock { $0.raised.contains(product) } }

    /// Notes the higher price of a subscription as the store shows it, however often it does.
    ///
    /// An answer that was lost on its way to the buyer shows here, too.
    func note(_ increase: PriceIncrease, of subscription: TransactionID) {
        let raise = Raise(subscription: subscription, increase: increase.id)
        seen.withLock { seen in
            seen.raises.insert(raise)
            switch increase.status {
            case .pending: seen.asked.insert(raise)
            case .agreed, .declined:
                seen.asked.insert(raise)
                seen.answers[raise] = increase.status == .agreed
            default: break
            }
        }
    }

    /// Notes the request to extend all subscribers, which is carried out.
    func note(_ request: MassExtension) { seen.withLock { $0.massExtension = request } }

    /// Notes how many subscriptions have the extension of that request.
    func note(extended count: Int64) { seen.withLock { $0.extended = count } }

    /// The request to extend all subscribers; `nil` before it is carried out.
    var massExtension: MassExtension? { seen.withLock { $0.massExtension } }

    /// Looks at a transaction in a queue, however often it comes.
    func see(_ transaction: Transaction) {
        let isPaid = [.purchased, .restored].contains(transaction.state)
        seen.withLock { seen in
            guard isPaid else { return }
            if transaction.reason == .familyShared { seen.shares.insert(transaction.id) }
            guard let period = transaction.subscription else { return }
            if period.beginsIntroductoryOffer {
                seen.introductions[transaction.accountID, default: []].insert(transaction.id)
            }
            if period.offerOfCode != nil {
                seen.codes[transaction.accountID, default: []].insert(transaction.id)
            }
            // Neither a renewal at the price of an offer, nor a restored copy.
            guard period.charge == nil, period.paidBy == nil || period.isRedemption else { return }
            let offer = period.redeems ?? period.offer
            if offer?.introductory == .again { seen.introducedAgain.insert(transaction.id) }
            switch offer?.type {
            case .promotional: seen.promotional.insert(transaction.id)
            case .winBack: seen.wonBack.insert(transaction.id)
            default: break
            }
        }
    }

    /// The rules that are broken.
    var complaints: [String] {
        let seen = seen.withLock { $0 }
        var complaints = Self.repeated("introductory offers", in: seen.introductions)
        complaints += Self.repeated("redemptions of one code", in: seen.codes)
        let redemptions = seen.codes.values.reduce(0) { $0 + $1.count }
        if redemptions > redemptionsMax {
            complaints.append("a code for \(redemptionsMax) was redeemed \(redemptions) times")
        }
        return complaints + [Self.complaint(aboutExtensionsIn: seen)].compactMap { $0 }
    }

    /// The numbers of acts; what has not happened at all is among them.
    var counts: [(name: String, count: Int)] {
        let seen = seen.withLock { $0 }
        return [
            (name: "introductory offers", count: seen.introductions.count),
            (name: "introductory offers given once more", count: seen.introducedAgain.count),
            (name: "codes redeemed", count: seen.codes.values.reduce(0) { $0 + $1.count }),
            (name: "purchases shared", count: seen.shares.count),
            (name: "promotional offers", count: seen.promotional.count),
            (name: "subscribers won back", count: seen.wonBack.count),
            (
                name: "subscriptions extended by a request for all",
                count: Int(seen.massExtension?.succeededCount ?? 0)
            ),
            (name: "prices raised", count: seen.raises.count),
            (name: "raises agreed to", count: seen.answers.values.count { $0 }),
            (name: "raises declined", count: seen.answers.values.count { !$0 }),
            (name: "raises unanswered", count: seen.asked.count - seen.answers.count),
        ] + Kind.allCases.map { (name: $0.rawValue, count: seen.counts[$0] ?? 0) }
    }

    /// Prints the numbers of acts.
    func tell(_ terminal: Terminal) {
        for (name, count) in counts {
            terminal.field("acts", "\(count) × \(name)", count == 0 ? .yellow : .plain)
        }
    }

    private static func repeated(
        _ name: String,
        in purchases: [AccountID: Set<TransactionID>]
    ) -> [String] {
        purchases.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map { account, ids in
            "\(account) has \(ids.count) \(name): \(ids.sorted().map(\.rawValue))"
        }
    }

    /// The fault in the numbers of the request to extend all subscribers; `nil` if there is none.
    private static func complaint(aboutExtensionsIn seen: Seen) -> String? {
        guard let extended = seen.extended else { return nil }
        guard let request = seen.massExtension else {
            return "the extension of all subscribers was not carried out"
        }
        guard extended != request.succeededCount else { return nil }
        return "the extension of all subscribers counts \(request.succeededCount), and "
            + "\(extended) subscriptions have it"
    }
}

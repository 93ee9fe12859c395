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
        case priceRaised = "prices raised"
        case priceAgreed = "raises agreed to"
        case priceDeclined = "raises declined"
        case extended = "periods extended"
        case refundAsked = "refunds asked for"
        case refundApproved = "of them approved"
        case refundDeclined = "of them declined"
    }

    /// The redemptions that the custom code has.
    let redemptionsMax: Int
    private let seen = Mutex(Seen())

    private struct Seen {
        var counts: [Kind: Int] = [:]
        /// The purchases by which each account has its introductory offer.
        var introductions: [AccountID: Set<TransactionID>] = [:]
        /// The purchases that hold a code, by account.
        var codes: [AccountID: Set<TransactionID>] = [:]
        var shares: Set<TransactionID> = []
    }

    /// Begins to count.
    ///
    /// - Parameter redemptionsMax: The redemptions that the custom code has.
    init(redemptionsMax: Int) { self.redemptionsMax = redemptionsMax }

    /// Counts an act that the store has answered.
    func note(_ kind: Kind) { seen.withLock { $0.counts[kind, default: 0] += 1 } }

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
        return complaints
    }

    /// The numbers of acts; what has not happened at all is among them.
    var counts: [(name: String, count: Int)] {
        let seen = seen.withLock { $0 }
        return [
            (name: "introductory offers", count: seen.introductions.count),
            (name: "codes redeemed", count: seen.codes.values.reduce(0) { $0 + $1.count }),
            (name: "purchases shared", count: seen.shares.count),
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
}

import EventTypes
package import StoreAPI
package import StripeStandIn

extension AuditReport {
    /// Compares transactions with the stand-in's own books, which no service of the store writes.
    ///
    /// Each payment that was made has one charge of its price, of which as much went back as the store
    /// says. A payment that failed has none that was not given back.
    ///
    /// - Parameters:
    ///   - transactions: The transactions in the books of the store.
    ///   - entries: The charges and the refunds of the stand-in.
    ///   - withdrawn: The amounts that disputes have taken back, by the payment.
    package mutating func compare(
        _ transactions: [TransactionBooks],
        with entries: [StandInServer.Entry],
        _ withdrawn: [String: Int64]
    ) {
        let known = Dictionary(transactions.map { ($0.id.rawValue, $0) }) { $1 }
        let charges = Dictionary(
            grouping: entries.filter { $0.kind == "charge" },
            by: \.transaction
        )
        let refunds = Dictionary(grouping: entries.filter { $0.kind == "refund" }, by: \.payment)
        for (id, made) in charges.sorted(by: { $0.key < $1.key }) {
            guard let entry = known[id]?.entry else {
                add(.doubled, id, "charged at Stripe, and unknown to payments")
                continue
            }
            if made.count > 1 { add(.doubled, id, "\(made.count) charges at Stripe") }
            for charge in made {
                let back =
                    (refunds[charge.payment] ?? []).reduce(withdrawn[charge.payment] ?? 0) {
                        $0 + $1.amount
                    }
                if back > charge.amount {
                    add(.doubled, id, "\(back) of \(charge.amount) went back to the buyer")
                }
                if charge.amount != entry.price.minorUnits
                    || charge.currency != entry.price.currency.rawValue.lowercased()
                {
                    let charged = "\(charge.amount) \(charge.currency)"
                    add(.wrong, id, "\(charged) charged at Stripe for \(entry.price)")
                }
                if entry.state != .purchased, back < charge.amount {
                    add(.doubled, id, "\(entry.state), and charged at Stripe")
                }
                guard entry.state == .purchased, made.count == 1 else { continue }
                let booked = entry.refunds.filter { $0.reversedAt == nil }
                    .reduce(Int64(0)) { $0 + $1.amount.minorUnits }
                if booked != back {
                    add(
                        booked > back ? .lost : .wrong,
                        id,
                        "\(booked) given back in payments, and \(back) at Stripe"
                    )
                }
            }
        }
        for books in transactions where books.isPaid && books.entry?.reason.isCopy == false {
            if books.entry?.price.minorUnits != 0, charges[books.id.rawValue] == nil {
                add(.lost, books.id, "paid, and not charged at Stripe")
            }
        }
        count("charges at Stripe", charges.values.reduce(0) { $0 + $1.count })
        count("refunds at Stripe", refunds.values.reduce(0) { $0 + $1.count })
        count("disputes at Stripe", withdrawn.count)
    }
}

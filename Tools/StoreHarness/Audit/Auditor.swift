public import EventTypes
public import StoreAPI
import StripeStandIn

/// Checks the guarantee after a run.
///
/// It asks the operator's `counterfoil reconcile` whether all books agree, and compares its answer
/// with the payments that a driver saw accepted. Run it when the store is idle, because work in
/// progress counts as lost.
public struct Auditor: Sendable {
    private let store: StoreHarness

    /// Makes an auditor of a store.
    public init(_ store: StoreHarness) {
        self.store = store
    }

    /// Runs the audit.
    ///
    /// - Parameters:
    ///   - accepted: The payments that the driver saw accepted.
    ///   - isFinished: Whether the driver finished everything that can be finished.
    ///   - limit: The time in which the books must agree.
    ///   - merchant: The receiver of the webhooks, whose records are compared, too.
    ///   - won: The payments whose disputes the store has won.
    /// - Returns: The counts and the violations.
    /// - Throws: An error if the store cannot be read.
    public func audit(
        accepted: [AcceptedPayment],
        isFinished: Bool = true,
        within limit: Duration = .zero,
        merchant: WebhookReceiver? = nil,
        wonDisputes won: Set<TransactionID> = []
    ) async throws -> AuditReport {
        let answer = try await store.reconcile(within: limit)
        var report = AuditReport(
            of: answer,
            accepted: accepted,
            isFinished: isFinished,
            confirmedByMerchant: merchant?.confirmed,
            wonDisputes: won
        )
        if let accounts = store.stripe?.server.accounts {
            // No payment of one account has the id of another's.
            report.compare(
                answer.transactions ?? [],
                with: accounts.flatMap(\.entries),
                accounts.map(\.withdrawn).reduce(into: [:]) { $0.merge($1) { $0 + $1 } }
            )
        }
        return report
    }
}

extension AuditReport {
    /// Evaluates the answer of `counterfoil reconcile --transactions`.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - accepted: The payments that a driver saw accepted.
    ///   - isFinished: Whether the driver finished everything that can be finished.
    ///   - confirmed: The ids of the webhooks that a merchant has confirmed; `nil` skips this
    ///     check.
    ///   - won: The payments whose disputes the store has won. What a processor refused to refund
    ///     meanwhile is left to a person (decision 68), and is no violation.
    public init(
        of answer: Reconciliation,
        accepted: [AcceptedPayment],
        isFinished: Bool = true,
        confirmedByMerchant confirmed: Set<String>? = nil,
        wonDisputes won: Set<TransactionID> = []
    ) {
        self.init()
        let transactions = answer.transactions ?? []
        count(transactions, in: answer, accepted: accepted.count)
        compare(transactions, with: accepted)
        // An app that has not finished may still be waiting for a delivery.
        let tolerated = isFinished ? [] : ["undelivered", "finishDiffers"]
        for difference in answer.differences
        where !tolerated.contains(difference.kind) && !difference.isLeftToAPerson(after: won) {
            add(
                Kind(difference.effect),
                difference.transactionID?.rawValue ?? difference.subject ?? "-",
                "\(difference.kind), \(difference.detail)"
            )
        }
        for books in transactions where isFinished && books.isPaid {
            if books.queued?.isFinished != true { add(.lost, books.id, "paid, and not finished") }
        }
        if let confirmed { compare(transactions, confirmed) }
    }

    private mutating func compare(
        _ transactions: [TransactionBooks],
        with accepted: [AcceptedPayment]
    ) {
        let known = Set(transactions.filter { $0.entry != nil }.map(\.id))
        let acceptedIDs = Set(accepted.map(\.transactionID))
        for id in acceptedIDs.subtracting(known).sorted(by: { $0.number < $1.number }) {
            add(.lost, id, "accepted, and unknown to payments")
        }
        // The store itself makes renewals and shares; other checks judge them.
        let own = transactions.filter {
            $0.entry?.reason == .renewal || $0.entry?.reason == .familyShared
        }.map(\.id)
        let unasked = known.subtracting(acceptedIDs).subtracting(own)
        for id in unasked.sorted(by: { $0.number < $1.number }) {
            add(.doubled, id, "in the books of payments, and no client has seen it")
        }
        let accounts = Dictionary(accepted.map { ($0.transactionID, $0.account) }) { $1 }
        for books in transactions {
            guard let entry = books.entry, let account = accounts[books.id] else { continue }
            if entry.accountID != account {
                add(.wrong, books.id, "accepted from \(account), booked for \(entry.accountID)")
            }
        }
    }

    private mutating func compare(_ transactions: [TransactionBooks], _ confirmed: Set<String>) {
        var count = 0
        for books in transactions {
            for delivery in books.queued?.deliveries ?? [] where delivery.state == "delivered" {
                guard let webhook = delivery.webhookID(of: books.id) else { continue }
                count += 1
                if !confirmed.contains(webhook) {
                    add(
                        .lost,
                        books.id,
                        "\(webhook) is delivered, and the merchant did not say so"
                    )
                }
            }
        }
        self.count("webhooks", count)
    }

    private mutating func count(
        _ transactions: [TransactionBooks],
        in answer: Reconciliation,
        accepted: Int
    ) {
        count("accepted", accepted)
        for state in [TransactionState.purchased, .restored, .failed, .deferred, .purchasing] {
            count(state.rawValue, transactions.count { $0.entry?.state == state })
        }
        let renewals = transactions.filter { $0.entry?.reason == .renewal }
        count("subscriptions", answer.subscriptions ?? 0)
        count("renewals", renewals.count(where: \.isPaid))
        count("renewals declined", renewals.count { $0.entry?.state == .failed })
        let queued = transactions.compactMap(\.queued)
        let charges = transactions.flatMap(\.charges)
        count("charges", charges.count + (answer.differenceCounts["chargeUnknown"] ?? 0))
        count("charges returned", charges.count(where: \.isReturned))
        count("postings", transactions.reduce(0) { $0 + $1.postings.count })
        count("receipts", transactions.reduce(0) { $0 + $1.receipts.count })
        count("deliveries", transactions.count { $0.isPaid && $0.queued?.isDelivered == true })
        count("credit grants", queued.flatMap(\.credits).count { $0.kind == "grant" })
        count(
            "entitlements",
            transactions.count {
                $0.queued?.isEntitled != nil && $0.entry?.reason.isCopy == false
            }
        )
        count("finished", queued.count(where: \.isFinished))
        count("accounts", answer.accounts)
        count("dead letters", answer.differenceCounts["deadLetter"] ?? 0)
    }
}

extension Reconciliation.Difference {
    /// Whether a refund of an unused period was refused because of a dispute that the store then won.
    ///
    /// - Parameter won: The payments with such a dispute.
    /// - Returns: Whether a person has to make this refund.
    fileprivate func isLeftToAPerson(after won: Set<TransactionID>) -> Bool {
        guard let refund else { return false }
        return refund.refunded == 0 && refund.due > 0 && won.contains(refund.transactionID)
    }
}

extension AuditReport.Kind {
    fileprivate init(_ effect: Reconciliation.Effect) {
        self =
            switch effect {
            case .lost: .lost
            case .doubled: .doubled
            case .wrong: .wrong
            }
    }
}

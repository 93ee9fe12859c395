import EventTypes
import StoreAPI

/// The transactions that this client knows, and the news for its observers.
///
/// It does no I/O. A transaction object shows the state that its observers last received. The
/// store's latest state is kept here.
struct PendingTransactions {
    /// A transaction and its new fields.
    typealias Update = (transaction: SKPaymentTransaction, fields: SKPaymentTransaction.Fields)

    /// The news for observers, in the order in which they are delivered.
    struct News {
        /// The updates, one call each.
        ///
        /// A call contains each transaction at most once, so that observers see every state.
        var updates: [[Update]] = []
        /// Updates that observers are not called for, such as a confirmed delivery.
        var silent: [Update] = []
        var removed: [SKPaymentTransaction] = []
        var revoked: [String] = []
        /// Finished transactions whose refunds have changed, or the end of a period that is shared.
        var refunded: [SKPaymentTransaction] = []
        var restoresEnded = 0
        /// The number of restores whose transactions will not arrive.
        var restoresLost = 0
        /// The account events of the stream.
        var account: [[UInt8]] = []
        /// The subscription events of the stream.
        var subscriptions: [[UInt8]] = []
        /// Payments for which the app must decide whether they continue in another storefront.
        var moved: [MovedPayment] = []
        /// Whether the store has lost some of the data it sent before, for example because it was
        /// restored from a backup.
        ///
        /// Transactions that it no longer sends may have left the queue.
        var hasStoreGoneBack = false
    }

    private(set) var all: [SKPaymentTransaction] = []
    /// The event id from which to resume the stream.
    private(set) var lastEventID: String?
    /// The restores that are in progress.
    var restores = PendingRestores()
    /// The database that the streams came from.
    private var database: String?
    private(set) var known: [TransactionID: Update] = [:]
    /// The transactions that left the queue while this stream was open.
    ///
    /// Later events of the stream about them are outdated.
    private var gone: Set<TransactionID> = []
    /// The refunds that observers have been told about.
    private var refunds = ReportedRefunds()
    /// The revision of the queue at which the first stream began.
    ///
    /// That stream began with all transactions that were unfinished. Later ones began with a
    /// payment, after this revision.
    private var firstRevision: Int64?
    /// Payments that were sent and that the store has not answered yet.
    private var unanswered: [SKPaymentTransaction] = []
    /// Changes that may belong to these payments, because the stream can be faster than the answer.
    private var early: [QueueChanged] = []
    /// Payments that the store has not charged because the account has moved to another storefront.
    private var moves = MovedPayments()

    // MARK: - Payments

    /// Adds a payment.
    mutating func begin(_ transaction: SKPaymentTransaction) -> News {
        all.append(transaction)
        return News(updates: [[(transaction, transaction.fields)]])
    }

    /// Records that a payment is sent to the store.
    ///
    /// From now on a change in the stream may belong to it.
    mutating func send(_ transaction: SKPaymentTransaction) -> News {
        unanswered.append(transaction)
        return News()
    }

    /// Records that the store did not accept a payment as it was sent.
    ///
    /// It may be sent again with changes.
    mutating func withhold(_ transaction: SKPaymentTransaction) -> News {
        unanswered.removeAll { $0 === transaction }
        return reconsiderEarly()
    }

    /// Records that the store has accepted a payment.
    mutating func bind(_ transaction: SKPaymentTransaction, to id: TransactionID) -> News {
        unanswered.removeAll { $0 === transaction }
        transaction.bind(to: id)
        var fields = transaction.fields
        // The object may have been bound to another transaction of the store before.
        fields.version = 0
        known[id] = (transaction, fields)
        return reconsiderEarly()
    }

    /// Records that the store has refused a payment.
    mutating func refuse(_ transaction: SKPaymentTransaction, with error: SKError) -> News {
        var news = withhold(transaction)
        news.add((transaction, transaction.fields.failed(with: error)))
        return news
    }

    // MARK: - Payments whose storefront has changed

    /// Stops a payment that does not continue in another storefront.
    ///
    /// It failed with the store's reason.
    mutating func stop(_ moved: MovedPayment) -> News {
        var news = withhold(moved.transaction)
        guard let change = moves.stop(moved.id), let known = known[moved.id] else { return news }
        update(known.transaction, known.fields, with: change, &news)
        return news
    }

    /// Continues a payment in another storefront, as another transaction of the store.
    mutating func goOn(_ moved: MovedPayment, as id: TransactionID) -> News {
        moves.forget(moved.id)
        known[moved.id] = nil
        gone.insert(moved.id)
        return bind(moved.transaction, to: id)
    }

    /// Removes a transaction that was finished by this client.
    ///
    /// The store lets an app finish a purchase only once everything is delivered. So the purchase is
    /// delivered, even if the stream has not yet reported it.
    mutating func finish(_ transaction: SKPaymentTransaction) -> News {
        var news = News()
        if let id = transaction.number, var fields = known[id]?.fields, !fields.isDelivered,
            fields.state == .purchased || fields.state == .restored
        {
            fields.isDelivered = true
            news.silent.append((transaction, fields))
        }
        if leave(transaction) { news.removed.append(transaction) }
        return news
    }

    /// Returns the transaction with an id, if it is in the queue.
    func transaction(_ id: TransactionID) -> SKPaymentTransaction? { known[id]?.transaction }

    // MARK: - Restores

    /// Records that the store has made the transactions of a restore.
    mutating func await(_ ids: [TransactionID], of restore: PendingRestores.Number) -> News {
        News(restoresEnded: restores.await(ids, of: restore) ? 1 : 0)
    }

    /// Searches the history for transactions that a restore is waiting for.
    mutating func lookThrough(_ history: [QueueChanged]) -> News {
        var news = News()
        for change in history where change.transaction.state == .restored {
            // Unfinished transactions arrive through the stream.
            guard change.finishedAt != nil else { continue }
            news.restoresEnded += restores.heard(of: change.transaction.id)
        }
        return news
    }

    // MARK: - The stream

    /// Records that a stream was opened.
    mutating func connected(_ head: QueueStreamHead) -> News {
        var news = News()
        let isBehind =
            if let revision = head.revision, let lastEventID, let seen = Int64(lastEventID) {
                revision < seen
            } else {
                false
            }
        let isAnother =
            if let database, let other = head.database { database != other } else { false }
        database = head.database ?? database
        if isBehind || isAnother { goBack(&news) }
        // A new stream begins with everything unfinished. The old event id has no meaning for it.
        if isBehind { lastEventID = nil }
        if lastEventID == nil { firstRevision = head.revision }
        return news
    }

    /// Handles a store that may have lost data it sent before.
    private mutating func goBack(_ news: inout News) {
        news.hasStoreGoneBack = true
        // A transaction that was finished here may be unfinished again, and a transaction may be at
        // an older version than the known one.
        gone = []
        for (id, update) in known where update.fields.version > 1 {
            known[id]?.fields.version = 1
            known[id]?.fields.isDelivered = false
        }
        refunds.goBack()
        news.restoresLost += restores.giveUpAnswered()
    }

    /// Processes events of the stream.
    mutating func receive(_ events: [ServerSentEventParser.Event]) -> News {
        var news = News()
        for event in events {
            if event.name == "account" {
                news.account.append(event.data)
            } else if event.name == "subscription" {
                news.subscriptions.append(event.data)
            } else if let change = try? EventCoding.decode(QueueChanged.self, from: event.data) {
                changed(change, &news)
            }
            // An event that cannot be decoded stays in the store's queue. The next launch requests
            // it again.
            guard let id = event.id else { continue }
            if let new = Int64(id), let old = lastEventID.flatMap({ Int64($0) }), new < old {
                goBack(&news)
            }
            lastEventID = id
        }
        return news
    }

    /// The transactions that the store has sent and not removed.
    var reported: Set<TransactionID> { Set(known.filter { $0.value.fields.version > 0 }.keys) }

    /// Processes the store's answer to a request for all unfinished transactions.
    ///
    /// - Parameters:
    ///   - changes: The unfinished transactions in the answer.
    ///   - reported: The transactions that the store had sent before the request. Those missing from
    ///     the answer have left the queue.
    /// - Returns: The news for observers.
    mutating func receive(_ changes: [QueueChanged], insteadOf reported: Set<TransactionID> = [])
        -> News
    {
        var news = News()
        for id in reported.subtracting(changes.map(\.transaction.id)).sorted() {
            if let transaction = known[id]?.transaction, leave(transaction) {
                news.removed.append(transaction)
            }
        }
        for change in changes { changed(change, &news) }
        return news
    }

    /// Records that the stream was closed.
    ///
    /// The next stream begins with all unfinished transactions.
    ///
    /// - Returns: The number of restores that are given up.
    mutating func forgetStream() -> Int {
        lastEventID = nil
        database = nil
        firstRevision = nil
        early = []
        all.removeAll { $0.number != nil }
        known = [:]
        gone = []
        moves = MovedPayments()
        return restores.giveUpAll()
    }

    /// Forgets the event id, so that the next stream begins with all unfinished transactions.
    ///
    /// Known transactions stay.
    mutating func forgetPosition() -> News {
        lastEventID = nil
        return News()
    }

    private mutating func reconsiderEarly() -> News {
        var news = News()
        let waiting = early
        early = []
        for change in waiting { changed(change, &news) }
        return news
    }

    private mutating func changed(_ change: QueueChanged, _ news: inout News) {
        let id = change.transaction.id
        if let (transaction, fields) = known[id] {
            news.add(refunds.take(change.transaction), change)
            if change.finishedAt == nil {
                if moves.holds(change) {
                    if moves.ask(change) { news.moved.append(MovedPayment(transaction, change)) }
                } else {
                    update(transaction, fields, with: change, &news)
                }
            } else if leave(transaction) {
                news.removed.append(transaction)
            }
        } else if change.finishedAt != nil {
            // The transaction has left the queue. Only its refunds and their reversals are
            // reported.
            news.add(refunds.take(change.transaction), change)
        } else if gone.contains(id) {
            return
        } else if isPerhapsUnanswered(change.transaction) {
            early.append(change)
            return
        } else {
            appear(change, &news)
        }
        if change.transaction.state == .restored {
            news.restoresEnded += restores.heard(of: id)
        }
    }

    /// Adds a transaction that this client did not know.
    private mutating func appear(_ change: QueueChanged, _ news: inout News) {
        // Observers see its refunds together with the transaction.
        _ = refunds.take(change.transaction)
        // The payment has not failed until the app has decided whether it continues.
        let isAsked = moves.holds(change) && moves.ask(change)
        let isLate = !isAsked && hasMissedPurchasing(change)
        let transaction = SKPaymentTransaction(
            change,
            fields: .init(isAsked || isLate ? change.asAccepted : change)
        )
        known[change.transaction.id] = (transaction, transaction.fields)
        all.append(transaction)
        news.add((transaction, transaction.fields))
        if isAsked { news.moved.append(MovedPayment(transaction, change)) }
        if isLate { update(transaction, transaction.fields, with: change, &news) }
    }

    /// Whether observers should have seen a transaction in the state `purchasing` before.
    ///
    /// The store does not report this state of a payment that is charged at once. All payments
    /// begin with it (spec rule 22), so it is derived from the next state. A transaction that was
    /// unfinished before the first stream is reported as it is.
    private func hasMissedPurchasing(_ change: QueueChanged) -> Bool {
        guard let firstRevision, change.revision > firstRevision else { return false }
        let transaction = change.transaction
        // No payment begins a renewal or a share: the store made it by itself.
        return transaction.version > 1 && ![.purchasing, .restored].contains(transaction.state)
            && ![.renewal, .familyShared].contains(transaction.reason)
    }

    private mutating func update(
        _ transaction: SKPaymentTransaction,
        _ known: SKPaymentTransaction.Fields,
        with change: QueueChanged,
        _ news: inout News
    ) {
        guard change.transaction.version >= known.version else { return }
        var fields = SKPaymentTransaction.Fields(change)
        // A confirmed delivery stays confirmed.
        fields.isDelivered = fields.isDelivered || known.isDelivered
        self.known[change.transaction.id] = (transaction, fields)
        if fields.state != known.state || fields.revocationDate != known.revocationDate
            || fields.refunds != known.refunds || fields.awaitsBuyer != known.awaitsBuyer
        {
            news.add((transaction, fields))
        } else {
            news.silent.append((transaction, fields))
        }
    }

    private mutating func leave(_ transaction: SKPaymentTransaction) -> Bool {
        transaction.leave()
        guard let index = all.firstIndex(where: { $0 === transaction }) else { return false }
        all.remove(at: index)
        if let id = transaction.number {
            moves.forget(id)
            known[id] = nil
            gone.insert(id)
        }
        return true
    }

    private func isPerhapsUnanswered(_ transaction: EventTypes.Transaction) -> Bool {
        transaction.state != .restored && transaction.reason != .renewal
            && unanswered.contains {
                $0.payment.productIdentifier == transaction.productID.rawValue
                    && $0.payment.quantity == transaction.quantity
                    && $0.payment.applicationUsername == transaction.applicationUsername
            }
    }
}

extension PendingTransactions.News {
    fileprivate mutating func add(_ refund: ReportedRefunds.News?, _ change: QueueChanged) {
        guard let refund else { return }
        if refund == .revoked { revoked.append(change.transaction.productID.rawValue) }
        // Unfinished transactions are announced by their update.
        if change.finishedAt != nil { refunded.append(SKPaymentTransaction(change)) }
    }

    fileprivate mutating func add(_ update: PendingTransactions.Update) {
        // Silent updates are shown last and must not be older than the announced ones.
        silent.removeAll { $0.transaction === update.transaction }
        let isInLast = updates.last?.contains { $0.transaction === update.transaction } ?? true
        if isInLast {
            updates.append([update])
        } else {
            updates[updates.count - 1].append(update)
        }
    }
}

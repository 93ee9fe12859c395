import EventTypes
import StoreAPI

/// The transactions that this client knows of, and what its observers have to be told.
///
/// No I/O. A transaction object shows what its observers were told; what the store said last is
/// kept here.
struct PendingTransactions {
    /// A transaction and what it is to show.
    typealias Update = (transaction: SKPaymentTransaction, fields: SKPaymentTransaction.Fields)

    /// What observers have to be told, in this order.
    struct News {
        /// One call each; a transaction is at most once in a call, so no state of it is passed
        /// over.
        var updates: [[Update]] = []
        /// What observers need not be told, such as a confirmed delivery.
        var silent: [Update] = []
        var removed: [SKPaymentTransaction] = []
        var revoked: [String] = []
        /// What was refunded after it had been finished.
        var refunded: [SKPaymentTransaction] = []
        var restoresEnded = 0
        /// Restores whose transactions will not come.
        var restoresLost = 0
        /// What the store says of the account.
        var account: [[UInt8]] = []
        /// Payments of which the app is to be asked whether they go on in another storefront.
        var moved: [MovedPayment] = []
        /// Whether the store knows less than it has told of, as one that was restored from a
        /// backup does: what it does not tell of now may have left.
        var hasStoreGoneBack = false
    }

    private(set) var all: [SKPaymentTransaction] = []
    /// Where the stream is to be resumed.
    private(set) var lastEventID: String?
    /// The restores that are under way.
    var restores = PendingRestores()
    /// Which database the streams have been of.
    private var database: String?
    private var known: [TransactionID: Update] = [:]
    /// What has left the queue while this stream was open: what the stream still says of it is old.
    private var gone: Set<TransactionID> = []
    /// The refunds that observers were told of.
    private var revoked: Set<TransactionID> = []
    /// Payments that were sent, and that the store has not answered yet.
    private var unanswered: [SKPaymentTransaction] = []
    /// What may be one of theirs: the stream can be faster than the answer.
    private var early: [QueueChanged] = []
    /// Payments that the store has not charged because the account buys elsewhere by now.
    private var moves = MovedPayments()

    // MARK: - Payments

    /// A payment was added.
    mutating func begin(_ transaction: SKPaymentTransaction) -> News {
        all.append(transaction)
        return News(updates: [[(transaction, transaction.fields)]])
    }

    /// A payment is sent to the store: from here on what the stream says may be of it.
    mutating func send(_ transaction: SKPaymentTransaction) -> News {
        unanswered.append(transaction)
        return News()
    }

    /// The store has not taken a payment as it was sent; it may be sent again in another form.
    mutating func withhold(_ transaction: SKPaymentTransaction) -> News {
        unanswered.removeAll { $0 === transaction }
        return reconsiderEarly()
    }

    /// The store has taken a payment.
    mutating func bind(_ transaction: SKPaymentTransaction, to id: TransactionID) -> News {
        unanswered.removeAll { $0 === transaction }
        transaction.bind(to: id)
        var fields = transaction.fields
        // It may have been another transaction of the store before.
        fields.version = 0
        known[id] = (transaction, fields)
        return reconsiderEarly()
    }

    /// The store has not taken a payment.
    mutating func refuse(_ transaction: SKPaymentTransaction, with error: SKError) -> News {
        var news = withhold(transaction)
        news.add((transaction, transaction.fields.failed(with: error)))
        return news
    }

    // MARK: - Payments whose storefront has changed

    /// A payment does not go on in another storefront: it has failed, as the store says.
    mutating func stop(_ moved: MovedPayment) -> News {
        var news = withhold(moved.transaction)
        guard let change = moves.stop(moved.id), let known = known[moved.id] else { return news }
        update(known.transaction, known.fields, with: change, &news)
        return news
    }

    /// A payment goes on in another storefront, as another transaction of the store.
    mutating func goOn(_ moved: MovedPayment, as id: TransactionID) -> News {
        moves.forget(moved.id)
        known[moved.id] = nil
        gone.insert(moved.id)
        return bind(moved.transaction, to: id)
    }

    /// A transaction was finished here.
    mutating func finish(_ transaction: SKPaymentTransaction) -> News {
        leave(transaction) ? News(removed: [transaction]) : News()
    }

    /// The transaction of an id, if it is in the queue.
    func transaction(_ id: TransactionID) -> SKPaymentTransaction? { known[id]?.transaction }

    // MARK: - Restores

    /// The store has made the transactions of a restore.
    mutating func await(_ ids: [TransactionID], of restore: PendingRestores.Number) -> News {
        News(restoresEnded: restores.await(ids, of: restore) ? 1 : 0)
    }

    /// Transactions of the history, among which a restore may find what it waits for.
    mutating func lookThrough(_ history: [QueueChanged]) -> News {
        var news = News()
        for change in history where change.transaction.state == .restored {
            // Of what is not finished the stream tells.
            guard change.finishedAt != nil else { continue }
            news.restoresEnded += restores.heard(of: change.transaction.id)
        }
        return news
    }

    // MARK: - The stream

    /// A stream was opened.
    mutating func connected(_ head: QueueStreamHead) -> News {
        var news = News()
        let isBehind =
            if let revision = head.revision, let lastEventID, let told = Int64(lastEventID) {
                revision < told
            } else {
                false
            }
        let isAnother =
            if let database, let other = head.database { database != other } else { false }
        database = head.database ?? database
        if isBehind || isAnother { goBack(&news) }
        // It begins with everything unfinished; where the one of before was means nothing to it.
        if isBehind { lastEventID = nil }
        return news
    }

    /// The store may know less than it has told of.
    private mutating func goBack(_ news: inout News) {
        news.hasStoreGoneBack = true
        // What was finished here may be unfinished again, and what was known at a younger version
        // is at an older one.
        gone = []
        for (id, update) in known where update.fields.version > 1 {
            known[id]?.fields.version = 1
            known[id]?.fields.isDelivered = false
        }
        news.restoresLost += restores.giveUpAnswered()
    }

    /// Something came over the stream.
    mutating func receive(_ events: [ServerSentEventParser.Event]) -> News {
        var news = News()
        for event in events {
            if event.name == "account" {
                news.account.append(event.data)
            } else if let change = try? EventCoding.decode(QueueChanged.self, from: event.data) {
                changed(change, &news)
            }
            // What cannot be read stays in the queue of the store; the next launch asks again.
            guard let id = event.id else { continue }
            if let new = Int64(id), let old = lastEventID.flatMap({ Int64($0) }), new < old {
                goBack(&news)
            }
            lastEventID = id
        }
        return news
    }

    /// What the store has told of and not taken back.
    var told: Set<TransactionID> { Set(known.filter { $0.value.fields.version > 0 }.keys) }

    /// The store was asked for everything that is unfinished.
    ///
    /// - Parameters:
    ///   - changes: What it answers.
    ///   - told: What it had told of when it was asked: what is not in the answer has left.
    /// - Returns: What observers have to be told.
    mutating func receive(_ changes: [QueueChanged], insteadOf told: Set<TransactionID> = [])
        -> News
    {
        var news = News()
        for id in told.subtracting(changes.map(\.transaction.id)).sorted() {
            if let transaction = known[id]?.transaction, leave(transaction) {
                news.removed.append(transaction)
            }
        }
        for change in changes { changed(change, &news) }
        return news
    }

    /// The stream is closed: the next one begins with everything that is unfinished.
    ///
    /// - Returns: How many restores are given up with it.
    mutating func forgetStream() -> Int {
        lastEventID = nil
        database = nil
        early = []
        all.removeAll { $0.number != nil }
        known = [:]
        gone = []
        moves = MovedPayments()
        return restores.giveUpAll()
    }

    /// The next stream begins with everything that is unfinished; what is known stays.
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
            if change.transaction.revokedAt != nil, fields.revocationDate == nil,
                revoked.insert(id).inserted
            {
                news.add(refundOf: change)
            }
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
            // Gone from the queue; only a refund of it is news, and only once.
            if change.transaction.revokedAt != nil, revoked.insert(id).inserted {
                news.add(refundOf: change)
            }
        } else if gone.contains(id) {
            return
        } else if isPerhapsUnanswered(change.transaction) {
            early.append(change)
            return
        } else {
            // Before the app has said whether it goes on, it has not failed.
            let isAsked = moves.holds(change) && moves.ask(change)
            let transaction = SKPaymentTransaction(isAsked ? change.purchasing : change)
            known[id] = (transaction, transaction.fields)
            all.append(transaction)
            news.add((transaction, transaction.fields))
            if isAsked { news.moved.append(MovedPayment(transaction, change)) }
        }
        if change.transaction.state == .restored {
            news.restoresEnded += restores.heard(of: id)
        }
    }

    private mutating func update(
        _ transaction: SKPaymentTransaction,
        _ known: SKPaymentTransaction.Fields,
        with change: QueueChanged,
        _ news: inout News
    ) {
        guard change.transaction.version >= known.version else { return }
        var fields = SKPaymentTransaction.Fields(change)
        // A delivery once confirmed stays confirmed.
        fields.isDelivered = fields.isDelivered || known.isDelivered
        self.known[change.transaction.id] = (transaction, fields)
        if fields.state != known.state || fields.revocationDate != known.revocationDate {
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
        transaction.state != .restored
            && unanswered.contains {
                $0.payment.productIdentifier == transaction.productID.rawValue
                    && $0.payment.quantity == transaction.quantity
                    && $0.payment.applicationUsername == transaction.applicationUsername
            }
    }
}

extension PendingTransactions.News {
    fileprivate mutating func add(refundOf change: QueueChanged) {
        revoked.append(change.transaction.productID.rawValue)
        // Of one that is not finished its update tells.
        if change.finishedAt != nil { refunded.append(SKPaymentTransaction(change)) }
    }

    fileprivate mutating func add(_ update: PendingTransactions.Update) {
        // What is silent is shown last, and must not be older than what is told.
        silent.removeAll { $0.transaction === update.transaction }
        let isInLast = updates.last?.contains { $0.transaction === update.transaction } ?? true
        if isInLast {
            updates.append([update])
        } else {
            updates[updates.count - 1].append(update)
        }
    }
}

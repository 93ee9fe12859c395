import EventTypes
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions

/// Decides a batch of payment requests.
///
/// Pure. The caller passes in everything that the decisions need: earlier uses of the keys,
/// products, accounts, intents and ids. It then reads the decisions and writes them.
///
/// If several requests in a batch have the same key, the first accepted one is the leader. The
/// requests after it are followers, and get the leader's answer.
struct AcceptanceBatch: Sendable {
    /// A request, and its answer once it has one.
    struct Entry: Sendable {
        let submission: PaymentSubmission
        let key: RequestKey
        let fingerprint: [UInt8]
        /// The signed offer of the request; `nil` if it has none.
        let signedOffer: Result<SignedOffer, SignedOffer.Refusal>?
        var reply: PaymentReply?

        /// Computes everything about a request that needs no books, so that neither a batch nor its
        /// database transaction lasts longer because of it.
        init(_ submission: PaymentSubmission, signedBy keys: OfferKeys) {
            self.submission = submission
            key = submission.key
            fingerprint = submission.fingerprint
            signedOffer = SignedOffer.read(
                submission.request,
                in: submission.account.bundleID,
                signedBy: keys
            )
        }
    }

    /// A request that the rules accept.
    private struct Approved: Sendable {
        let position: Int
        let product: Product
        /// The price of the whole purchase.
        let price: Money
        /// The period of a subscription.
        let period: TransactionPeriod?
    }

    /// A request for which a transaction was made.
    private struct Begun: Sendable {
        let position: Int
        var acceptance: Acceptance
    }

    let time: StoreTime
    let environment: StoreEnvironment
    /// The locked subscriptions that the requests are about.
    var subscriptions: SubscriptionBooks
    /// The refunds of periods that an upgrade without a charge has ended early.
    var refunds: [ProcessorAttempt] = []
    /// The payment methods that tests have charged.
    var simulated = SimulatedCharges([:])
    /// Whether the processor waits for somebody's approval before it charges a payment method.
    var methodAsksForApproval: @Sendable (PaymentMethod) -> Bool = { _ in false }
    private(set) var entries: [Entry]
    private var approved: [Approved] = []
    private var begun: [Begun] = []
    /// The positions of the leaders and of the followers.
    private var leaders: [RequestKey: Int] = [:]
    private var followers: [Int] = []
    /// The answers, in the order of the requests; empty before ``answer(with:)``.
    private(set) var replies: [PaymentReply] = []

    /// Begins a batch.
    init(
        _ entries: [Entry],
        at time: StoreTime,
        in environment: StoreEnvironment,
        subscriptions: SubscriptionStateMachine
    ) {
        self.time = time
        self.environment = environment
        self.subscriptions = SubscriptionBooks(subscriptions, at: time)
        self.entries = entries
    }

    // MARK: - What has to be known

    var open: [Int] { entries.indices.filter { entries[$0].reply == nil } }

    /// The keys of requests that are not answered yet.
    var openKeys: Set<RequestKey> { Set(open.map { entries[$0].key }) }

    /// The products of the requests that are not answered yet.
    var openProducts: Set<ProductID> {
        Set(open.map { entries[$0].submission.request.productID })
    }

    /// The accounts of the requests that are not answered yet.
    var openAccounts: Set<AccountKey> { Set(open.map { entries[$0].submission.accountKey }) }

    /// The places of the subscriptions that unanswered requests are about.
    func openSubscriptions(_ products: [ProductID: Product]) -> Set<SubscriptionKey> {
        Set(
            open.compactMap {
                let submission = entries[$0].submission
                return products[submission.request.productID].flatMap(submission.subscriptionKey)
            }
        )
    }

    /// The accounts of unanswered requests that name a purchase intent.
    var openIntentAccounts: Set<AccountKey> {
        Set(
            open.compactMap {
                let submission = entries[$0].submission
                return submission.intent == nil ? nil : submission.accountKey
            }
        )
    }

    // MARK: - Decisions

    /// Answers requests whose key was used before.
    ///
    /// A repeated request gets its first answer. A different request under the same key is refused.
    ///
    /// - Parameters:
    ///   - uses: The first use of each key.
    ///   - records: The transactions of these uses.
    ///   - chargeAmounts: The amounts that these transactions were to be charged.
    /// - Throws: `EncodingError`; ``PaymentError`` if a transaction is missing.
    mutating func replay(
        _ uses: [RequestKey: (fingerprint: [UInt8], id: TransactionID)],
        records: [TransactionID: TransactionRecord],
        chargeAmounts: [TransactionID: Money]
    ) throws {
        for position in open {
            let entry = entries[position]
            guard let use = uses[entry.key] else { continue }
            guard use.fingerprint == entry.fingerprint else {
                entries[position].reply = .refused(.idempotencyKeyReused)
                continue
            }
            guard let record = records[use.id] else { throw PaymentError(.transactionMissing) }
            let answer = TransactionChanged(
                transaction: PaymentRules.firstAnswer(
                    of: record.transaction,
                    chargeAmount: chargeAmounts[use.id]
                ),
                purchaseIntentID: entry.submission.request.purchaseIntentID,
                environment: environment.rawValue
            )
            entries[position].reply = .accepted(
                body: try EventCoding.encode(answer),
                isReplay: true
            )
        }
    }

    /// Applies the rules to the requests that are not answered yet.
    ///
    /// - Parameters:
    ///   - products: The products of the requests, at their newest versions.
    ///   - standings: The standings of their accounts.
    ///   - intents: The open purchase intents of accounts whose requests name one.
    ///   - offers: What is known about their signed offers.
    ///   - methodRefusal: Returns why an account may not pay with a payment method; `nil` if it may.
    mutating func judge(
        products: [ProductID: Product],
        standings: [AccountKey: AccountStanding],
        intents: [AccountKey: [PurchaseIntent]],
        offers: OfferFacts,
        methodRefusal: (PaymentMethod, AccountKey) -> PaymentRefusal?
    ) {
        var unpaid: [IntentKey: PurchaseIntent] = [:]
        for (account, intents) in intents {
            for intent in intents { unpaid[IntentKey(account: account, id: intent.id)] = intent }
        }
        var begunIn: Set<SubscriptionKey> = []
        var offers = offers
        for position in open {
            let submission = entries[position].submission
            guard leaders[entries[position].key] == nil else {
                followers.append(position)
                continue
            }
            let product = products[submission.request.productID]
            let grant = grant(of: product, for: entries[position], offers)
            let sale = PaymentRules.price(
                of: submission.request,
                account: standings[submission.accountKey] ?? AccountStanding(),
                product: product,
                intent: submission.intent.flatMap { unpaid[$0] },
                offer: grant.map(\.first),
                methodRefusal: methodRefusal(
                    submission.request.paymentMethod,
                    submission.accountKey
                )
            ).flatMap { price in
                grant.flatMap {
                    period(of: product, for: submission, by: $0, besides: begunIn).map {
                        ($0?.isRedemption == true ? .zero(price.currency) : price, $0)
                    }
                }
            }
            switch sale {
            case .failure(let refusal): entries[position].reply = .refused(refusal)
            case .success(let (price, period)):
                guard let product else { continue }
                if let intent = submission.intent { unpaid[intent] = nil }
                if let key = submission.subscriptionKey(of: product) { begunIn.insert(key) }
                if let nonce = entries[position].nonce { offers.used.insert(nonce) }
                if let code = submission.code {
                    offers.redeem(code.digest, by: submission.accountKey)
                }
                leaders[entries[position].key] = position
                approved.append(
                    Approved(position: position, product: product, price: price, period: period)
                )
            }
        }
    }

    /// The period that a request would pay for; `nil` if the product is no subscription.
    ///
    /// Of several requests for one group, a batch accepts the first.
    private func period(
        of product: Product?,
        for submission: PaymentSubmission,
        by grant: OfferGrant,
        besides begun: Set<SubscriptionKey>
    ) -> Result<TransactionPeriod?, PaymentRefusal> {
        guard let product, let key = submission.subscriptionKey(of: product) else {
            return .success(nil)
        }
        guard !begun.contains(key) else { return .failure(.alreadySubscribed(to: product.id)) }
        let offer = grant.first
        if let offer, offer.type != .introductory,
            let copy = SubscriptionRules.redemption(
                of: offer,
                for: product,
                meeting: subscriptions.rows[key]?.subscription,
                at: time,
                by: subscriptions.machine.dueActions
            )
        {
            return .success(copy)
        }
        return SubscriptionRules.period(
            of: product,
            meeting: subscriptions.rows[key]?.subscription,
            at: time,
            by: subscriptions.machine.dueActions,
            offer: offer,
            renewingAt: product.prices[submission.request.storefront]
        ).map { period in
            var period = period
            period?.redeems = grant.later
            return period
        }
    }

    /// Makes transactions of the requests that the rules accept.
    ///
    /// - Parameters:
    ///   - transactionIDs: At least one id for each of these requests.
    ///   - ids: The source of the ids of their attempts.
    ///   - tax: The rates of the tax that the prices contain.
    ///   - leaseEnd: The time until which their attempts belong to this process.
    mutating func begin(
        _ transactionIDs: [TransactionID],
        drawing ids: IDSource,
        tax: TaxRates,
        leaseEnd: MachineTime
    ) {
        precondition(transactionIDs.count >= approved.count, "Each accepted request gets an id.")
        begun = zip(transactionIDs, approved).map { id, approved in
            let submission = entries[approved.position].submission
            let request = submission.request
            let record = TransactionRecord(
                transaction: PaymentRules.transaction(
                    id: id,
                    for: request,
                    of: submission.account.accountID,
                    in: submission.account.bundleID,
                    product: approved.product,
                    price: approved.price,
                    period: approved.period,
                    time: time
                ),
                taxBasisPoints: tax.basisPoints(in: request.storefront),
                traceparent: submission.trace
            )
            let method =
                approved.price.isZero
                ? request.paymentMethod
                : simulated.method(
                    insteadOf: request.paymentMethod,
                    of: submission.accountKey,
                    isRenewal: false
                )
            var acceptance = Acceptance(
                of: record,
                by: method,
                drawing: ids,
                at: time,
                leaseEnd: leaseEnd
            )
            subscriptions.introduce(by: record.transaction)
            if let redeemed = subscriptions.redeem(record) {
                acceptance.record.transaction = redeemed.transaction
                acceptance.grant = redeemed.grant
            } else if approved.period != nil, acceptance.grant != nil,
                let period = subscriptions.begin(record, paidBy: request.paymentMethod)
            {
                acceptance.grant = .beginPeriod(period)
            }
            acceptance.purchaseIntentID = request.purchaseIntentID
            let entry = entries[approved.position]
            acceptance.key = UsedKey(
                idempotencyKey: entry.key.idempotencyKey,
                fingerprint: entry.fingerprint
            )
            return Begun(position: approved.position, acceptance: acceptance)
        }
    }

    /// Answers the requests whose transactions were written, and their followers.
    ///
    /// - Parameter written: The written payments, in the order of ``acceptances``.
    /// - Throws: ``PaymentError`` if a request has no answer.
    mutating func answer(with written: [Acceptance]) throws {
        for (index, acceptance) in zip(begun.indices, written) {
            begun[index].acceptance = acceptance
            entries[begun[index].position].reply = .accepted(
                body: acceptance.body,
                isReplay: false
            )
        }
        for position in followers where entries[position].reply == nil {
            guard let leader = leaders[entries[position].key] else { continue }
            if entries[leader].fingerprint != entries[position].fingerprint {
                entries[position].reply = .refused(.idempotencyKeyReused)
            } else if case .accepted(let body, _) = entries[leader].reply {
                entries[position].reply = .accepted(body: body, isReplay: true)
            }
        }
        replies = try entries.map { entry in
            guard let reply = entry.reply else { throw PaymentError(.undecided) }
            return reply
        }
    }

    // MARK: - What was decided

    /// The redemptions of codes that these payments make.
    var redemptions: [CodeRedemption] {
        begun.compactMap { begun in
            let record = begun.acceptance.record
            guard let code = entries[begun.position].submission.code,
                let offer = record.transaction.subscription?.offerOfCode?.id
            else { return nil }
            return CodeRedemption(
                transactionID: record.transaction.id,
                digest: code.digest,
                key: RedemptionKey(
                    account: record.accountKey,
                    productID: record.transaction.productID,
                    offerID: offer
                )
            )
        }
    }

    /// The nonces of the signed offers that these payments use, each with the end of its signature.
    var usedNonces: [(nonce: OfferNonce, id: TransactionID, end: MachineTime)] {
        begun.compactMap { begun in
            guard case .success(let signed) = entries[begun.position].signedOffer else {
                return nil
            }
            return (signed.nonce, begun.acceptance.record.transaction.id, signed.end)
        }
    }

    /// The payments to write.
    var acceptances: [Acceptance] { begun.map(\.acceptance) }

    /// The purchase intents that these payments pay.
    var paidIntents: [(intent: IntentKey, payment: TransactionRecord)] {
        begun.compactMap { begun in
            entries[begun.position].submission.intent.map { ($0, begun.acceptance.record) }
        }
    }

    /// The attempts to carry out at once.
    var attempts: [ProcessorAttempt] {
        begun.compactMap(\.acceptance.attempt).filter { $0.step == .calling } + refunds
    }
}

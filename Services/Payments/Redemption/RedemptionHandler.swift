import Crypto
import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions

/// Redeems codes that people type on the store's page.
///
/// It shows first what a code gives. Only the payment's own database transaction decides.
struct RedemptionHandler: Sendable {
    let context: PaymentsContext
    let products: ProductStore
    /// Returns why a payment method is refused; `nil` if it can be charged.
    let methodRefusal: @Sendable (PaymentMethod) -> PaymentRefusal?
    /// Accepts the payment that redeems a code.
    let pay: @Sendable (PaymentSubmission) async throws -> PaymentReply
    /// The unknown codes that were typed from addresses.
    var addresses = AddressTries()
    /// The tickets that this process has read, so that a form need not read its ticket again.
    ///
    /// A ticket never changes and is never taken back before its end. Only the code that the page has
    /// shown last may be another one by now, if another instance has shown it. The holder has seen both.
    private let remembered = TokenCache<String, RedemptionTicket>()

    /// The most unknown codes that an account may type in a window.
    static let triesMax = 20
    /// The length of a window.
    static let window = Duration.seconds(3600)

    /// The answer to a person.
    enum Reply: Sendable {
        /// The ticket is unknown, or its time is over.
        case ticketOver
        /// The account has typed too many unknown codes.
        case tooManyTries
        /// Too many unknown codes were typed from the address, by whatever accounts.
        case tooManyTriesFromAddress
        case refused(PaymentRefusal)
        /// The offer of the code is to be confirmed.
        case offered(CodeTerms)
        /// A payment has redeemed the code, and this is its answer; it may not be charged yet.
        case redeemed([UInt8])
    }

    /// Makes a ticket for an account.
    ///
    /// - Parameters:
    ///   - request: How the account pays.
    ///   - account: The account.
    /// - Returns: The ticket's secret.
    /// - Throws: ``PaymentRefusal`` if no payment could be made like this; `PostgresError`.
    func open(_ request: RedemptionTicketRequest, for account: AccountKey) async throws -> String {
        if let refusal = methodRefusal(request.paymentMethod) { throw refusal }
        let usernameLength = request.applicationUsername?.unicodeScalars.count ?? 0
        guard usernameLength <= PaymentRules.applicationUsernameLengthMax else {
            throw PaymentRefusal.applicationUsernameTooLong(
                max: PaymentRules.applicationUsernameLengthMax
            )
        }
        let secret = RedemptionTicket.secret()
        let now = context.machineNow()
        let ticket = RedemptionTicket(
            account: account,
            storefront: request.storefront,
            paymentMethod: request.paymentMethod,
            applicationUsername: request.applicationUsername,
            endsAt: now.advanced(by: RedemptionTicket.lifetime)
        )
        try await context.client.withTransaction { connection in
            try TicketStore.insert(
                ticket,
                RedemptionTicket.digest(of: secret),
                at: now,
                on: connection
            )
        }
        return secret
    }

    /// The ticket of a secret; `nil` if it is unknown, or its time is over.
    ///
    /// A text that cannot be a secret is not looked for.
    func ticket(of secret: String) async throws -> RedemptionTicket? {
        guard RedemptionTicket.isSecret(secret) else { return nil }
        let digest = RedemptionTicket.digest(of: secret)
        if let ticket = remembered.value(of: digest, now: context.machineNow()) { return ticket }
        return try await read(digest)
    }

    /// Reads and remembers a ticket.
    private func read(_ digest: String) async throws -> RedemptionTicket? {
        let now = context.machineNow()
        let ticket = try await context.client.withConnection { connection in
            try connection.read(TicketStore.ticket(digest, at: now))
        }
        if let ticket { remembered.insert(ticket, for: digest, until: ticket.endsAt) }
        return ticket
    }

    /// Shows what a code gives, or redeems it if the person has confirmed exactly that.
    ///
    /// - Parameters:
    ///   - typed: The code as it was typed.
    ///   - secret: The ticket.
    ///   - confirmed: The mark of the terms that were confirmed; `nil` before they were shown.
    ///   - address: The address of the person; `nil` if it is not known.
    ///   - trace: The trace of the request.
    /// - Returns: The answer to the person.
    /// - Throws: `PostgresError`, or an error of the payment.
    func redeem(
        _ typed: String,
        _ secret: String,
        confirmed: String?,
        from address: String? = nil,
        trace: TraceContext
    ) async throws -> Reply {
        let ticketDigest = RedemptionTicket.digest(of: secret)
        if let confirmed, let terms = CodeTerms(confirmed),
            let (ticket, digest) = try await shown(typed, ticketDigest)
        {
            let key = Self.key(of: digest, confirmed, ticketDigest)
            return try await redeem(digest, terms, ticket, under: key, trace: trace)
        }
        let time = context.now()
        switch try await find(typed, ticketDigest, from: address, at: time) {
        case .nothing(let reply): return reply
        case .code(let ticket, let code, let product):
            if let confirmed {
                guard let terms = CodeTerms(confirmed) else { return .refused(.codeUnknown) }
                let key = Self.key(of: code.digest, confirmed, ticketDigest)
                return try await redeem(code.digest, terms, ticket, under: key, trace: trace)
            }
            if let refusal = CodeRules.refusal(of: code, at: time) { return .refused(refusal) }
            return try await offer(code, of: product, to: ticket)
        }
    }

    private enum Found: Sendable {
        case nothing(Reply)
        case code(RedemptionTicket, OfferCode, Product)
    }

    /// The ticket and the code, if the page has shown this code to the holder of the ticket before.
    ///
    /// It was found under the lock of the account's tries then, so this only reads, and nothing if this
    /// process has shown it. The batch that accepts the payment reads everything else, and decides.
    private func shown(
        _ typed: String,
        _ ticketDigest: String
    ) async throws -> (ticket: RedemptionTicket, code: CodeDigest)? {
        let now = context.machineNow()
        if let ticket = remembered.value(of: ticketDigest, now: now),
            let code = ticket.shownCode(as: typed)
        {
            return (ticket, code)
        }
        // Another instance may have shown it.
        guard let ticket = try await read(ticketDigest),
            let code = ticket.shownCode(as: typed)
        else { return nil }
        return (ticket, code)
    }

    /// Looks for a code, and counts a try of the account and of the address if there is none.
    private func find(
        _ typed: String,
        _ ticketDigest: String,
        from address: String?,
        at time: StoreTime
    ) async throws -> Found {
        guard let address else { return try await find(typed, ticketDigest, at: time) }
        guard addresses.take(address, at: context.machineNow()) else {
            return .nothing(.tooManyTriesFromAddress)
        }
        var isUnknown = false
        defer { if !isUnknown { addresses.giveBack(address) } }
        let found = try await find(typed, ticketDigest, at: time)
        if case .nothing(.refused(.codeUnknown)) = found { isUnknown = true }
        return found
    }

    /// Looks for a code, and counts a try of the account if there is none.
    private func find(
        _ typed: String,
        _ ticketDigest: String,
        at time: StoreTime
    ) async throws -> Found {
        let now = context.machineNow()
        let found = try await context.client.withTransaction { connection -> Found in
            guard var ticket = try connection.read(TicketStore.ticket(ticketDigest, at: now)) else {
                return .nothing(.ticketOver)
            }
            let tries = try TicketStore.lockTries(
                of: ticket.account,
                at: now,
                window: Self.window,
                on: connection
            )
            guard tries < Self.triesMax else { return .nothing(.tooManyTries) }
            guard let digest = CodeDigest(typed: typed, in: ticket.account.bundleID),
                let code = try connection.read(
                    CodeStore.facts(of: [(digest: digest, account: ticket.account)])
                ).codes[digest]
            else {
                try TicketStore.countTry(of: ticket.account, on: connection)
                return .nothing(.refused(.codeUnknown))
            }
            let product = try connection.read(
                products.load([code.productID], at: time)
            )[code.productID]
            guard let product else { return .nothing(.refused(.codeOfferEnded)) }
            try TicketStore.show(digest, with: ticketDigest, on: connection)
            ticket.shown = digest
            return .code(ticket, code, product)
        }
        if case .code(let ticket, _, _) = found {
            remembered.insert(ticket, for: ticketDigest, until: ticket.endsAt)
        }
        return found
    }

    /// The key of the payment that a form confirms.
    ///
    /// A form that is sent twice is the same payment, and gets the same answer. Like a fingerprint, it has
    /// the first half of a SHA-256: an index keeps it.
    private static func key(
        of code: CodeDigest,
        _ confirmed: String,
        _ ticketDigest: String
    ) -> IdempotencyKey {
        let mark = "\(ticketDigest) \(code.text) \(confirmed)"
        let digest = CodeDigest.hexadecimal(SHA256.hash(data: Array(mark.utf8)).prefix(16))
        return IdempotencyKey(unchecked: "code-\(digest)")
    }

    /// Has a batch accept the payment that redeems a code by the terms that were confirmed.
    private func redeem(
        _ code: CodeDigest,
        _ terms: CodeTerms,
        _ ticket: RedemptionTicket,
        under key: IdempotencyKey,
        trace: TraceContext
    ) async throws -> Reply {
        let payment = PaymentSubmission(
            account: AuthenticatedAccount(
                accountID: ticket.account.accountID,
                bundleID: ticket.account.bundleID
            ),
            idempotencyKey: key,
            request: PaymentRequest(
                productID: terms.product,
                quantity: 1,
                storefront: ticket.storefront,
                price: terms.ordinary,
                paymentMethod: ticket.paymentMethod,
                applicationUsername: ticket.applicationUsername
            ),
            trace: trace,
            code: SubmittedCode(digest: code, confirmed: terms.grant)
        )
        switch try await pay(payment) {
        case .accepted(let body, _): return .redeemed(body)
        case .refused(.stalePrice), .refused(.staleOffer):
            // What was confirmed is no longer so: the person is asked again.
            return try await offerAgain(code, to: ticket)
        case .refused(let refusal): return .refused(refusal)
        }
    }

    /// Offers a code again whose terms have changed since they were shown.
    private func offerAgain(
        _ digest: CodeDigest,
        to ticket: RedemptionTicket
    ) async throws -> Reply {
        let time = context.now()
        let found = try await context.client.withConnection { connection -> Found in
            let facts = try connection.read(
                CodeStore.facts(of: [(digest: digest, account: ticket.account)])
            )
            guard let code = facts.codes[digest] else {
                return .nothing(.refused(.codeUnknown))
            }
            let product = try connection.read(
                products.load([code.productID], at: time)
            )[code.productID]
            guard let product else { return .nothing(.refused(.codeOfferEnded)) }
            return .code(ticket, code, product)
        }
        switch found {
        case .nothing(let reply): return reply
        case .code(_, let code, let product): return try await offer(code, of: product, to: ticket)
        }
    }

    /// Offers a code to the holder of a ticket, by what is known now.
    ///
    /// Nothing is locked, so it decides nothing.
    private func offer(
        _ code: OfferCode,
        of product: Product,
        to ticket: RedemptionTicket
    ) async throws -> Reply {
        let (account, storefront) = (ticket.account, ticket.storefront)
        guard product.type == .autoRenewableSubscription, let terms = product.subscription,
            let ordinary = product.prices[storefront]
        else { return .refused(.codeOfferEnded) }
        let key = SubscriptionKey(
            accountID: account.accountID,
            bundleID: account.bundleID,
            groupID: terms.groupID
        )
        let (facts, rows) = try await context.client.withConnection { connection in
            try connection.read(
                CodeStore.facts(of: [(digest: code.digest, account: account)]),
                SubscriptionStore.reading([key])
            )
        }
        let redemption = RedemptionKey(
            account: account,
            productID: code.productID,
            offerID: code.offerID
        )
        guard !facts.redeemed.contains(redemption) else { return .refused(.codeRedeemedBefore) }
        let rules = context.subscriptions.dueActions
        let time = context.now()
        let row = rows.first ?? SubscriptionRow(key: key)
        let grant = CodeRules.grant(
            by: code,
            of: product,
            in: storefront,
            to: row,
            mayHaveIntroductory: SubscriptionRules.mayHaveIntroductoryOffer(
                row,
                at: time,
                by: rules
            ),
            at: time,
            by: rules
        )
        switch grant {
        case .success(let grant):
            return .offered(CodeTerms(product: product.id, grant: grant, ordinary: ordinary))
        case .failure(let refusal): return .refused(refusal)
        }
    }
}

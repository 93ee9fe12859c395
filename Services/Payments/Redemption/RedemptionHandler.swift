import Crypto
import EventTypes
import Foundation
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
        case refused(PaymentRefusal)
        /// The offer of the code is to be confirmed.
        case offered(CodeTerms)
        /// The code was redeemed by a payment, which is perhaps charged yet.
        case redeemed(Transaction)
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
        let now = context.machineNow()
        return try await context.client.withConnection { connection in
            try connection.read(TicketStore.ticket(RedemptionTicket.digest(of: secret), at: now))
        }
    }

    /// Shows what a code gives, or redeems it if the person has confirmed exactly that.
    ///
    /// - Parameters:
    ///   - typed: The code as it was typed.
    ///   - secret: The ticket.
    ///   - confirmed: The mark of the terms that were confirmed; `nil` before they were shown.
    ///   - trace: The trace of the request.
    /// - Returns: The answer to the person.
    /// - Throws: `PostgresError`, or an error of the payment.
    func redeem(
        _ typed: String,
        _ secret: String,
        confirmed: String?,
        trace: TraceContext
    ) async throws -> Reply {
        let ticketDigest = RedemptionTicket.digest(of: secret)
        let time = context.now()
        var found = confirmed == nil ? nil : try await shown(typed, ticketDigest, at: time)
        if found == nil { found = try await find(typed, ticketDigest, at: time) }
        switch found {
        case .nothing(let reply)?: return reply
        case .code(let ticket, let code, let product)?:
            // A page that is sent twice is the same payment, and gets the same answer.
            if let confirmed {
                guard let terms = CodeTerms(confirmed) else { return .refused(.codeUnknown) }
                let asked = submission(ticket, code, product, at: terms.ordinary, trace: trace)
                return try await redeem(asked, code, product, confirmed, terms, ticketDigest)
            }
            if let refusal = CodeRules.refusal(of: code, at: time) { return .refused(refusal) }
            guard let price = product.prices[ticket.storefront] else {
                return .refused(.codeOfferEnded)
            }
            let asked = submission(ticket, code, product, at: price, trace: trace)
            return try await terms(of: asked, code, product).map(Reply.offered)
                .getOrElse(Reply.refused)
        case nil: return .ticketOver
        }
    }

    private enum Found: Sendable {
        case nothing(Reply)
        case code(RedemptionTicket, OfferCode, Product)
    }

    /// The code that the page has shown to the holder of a ticket before; `nil` if it was another one.
    ///
    /// It was found under the lock of the account's tries then, so this only reads.
    private func shown(
        _ typed: String,
        _ ticketDigest: String,
        at time: StoreTime
    ) async throws -> Found? {
        let now = context.machineNow()
        return try await context.client.withConnection { connection -> Found? in
            guard let ticket = try connection.read(TicketStore.ticket(ticketDigest, at: now)),
                let digest = CodeDigest(typed: typed, in: ticket.account.bundleID),
                ticket.shown == digest,
                let code = try connection.read(CodeStore.codes([digest]))[digest]
            else { return nil }
            let product = try connection.read(
                products.load([code.productID], at: time)
            )[code.productID]
            return product.map { .code(ticket, code, $0) }
        }
    }

    /// Looks for a code, and counts a try if there is none.
    private func find(
        _ typed: String,
        _ ticketDigest: String,
        at time: StoreTime
    ) async throws -> Found {
        let now = context.machineNow()
        return try await context.client.withTransaction { connection -> Found in
            guard let ticket = try connection.read(TicketStore.ticket(ticketDigest, at: now)) else {
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
                let code = try connection.read(CodeStore.codes([digest]))[digest]
            else {
                try TicketStore.countTry(of: ticket.account, on: connection)
                return .nothing(.refused(.codeUnknown))
            }
            let product = try connection.read(
                products.load([code.productID], at: time)
            )[code.productID]
            guard let product else { return .nothing(.refused(.codeOfferEnded)) }
            try TicketStore.show(digest, with: ticketDigest, on: connection)
            return .code(ticket, code, product)
        }
    }

    private func redeem(
        _ submission: PaymentSubmission,
        _ code: OfferCode,
        _ product: Product,
        _ confirmed: String,
        _ terms: CodeTerms,
        _ ticketDigest: String
    ) async throws -> Reply {
        let mark = "\(ticketDigest) \(code.digest.text) \(confirmed)"
        let key = CodeDigest.hexadecimal(SHA256.hash(data: Array(mark.utf8)))
        let payment = PaymentSubmission(
            account: submission.account,
            idempotencyKey: IdempotencyKey(unchecked: "code-\(key)"),
            request: submission.request,
            trace: submission.trace,
            code: SubmittedCode(digest: code.digest, confirmed: terms.grant)
        )
        switch try await pay(payment) {
        case .accepted(let body, _):
            let answer = try JSONDecoder().decode(TransactionResponse.self, from: Data(body))
            return .redeemed(answer.transaction)
        case .refused(.stalePrice), .refused(.staleOffer):
            // What was confirmed is no longer so: the person is asked again.
            return try await self.terms(of: submission, code, product).map(Reply.offered)
                .getOrElse(Reply.refused)
        case .refused(let refusal): return .refused(refusal)
        }
    }

    /// The payment request that a code stands for, at an ordinary price.
    private func submission(
        _ ticket: RedemptionTicket,
        _ code: OfferCode,
        _ product: Product,
        at price: Money,
        trace: TraceContext
    ) -> PaymentSubmission {
        PaymentSubmission(
            account: AuthenticatedAccount(
                accountID: ticket.account.accountID,
                bundleID: ticket.account.bundleID
            ),
            idempotencyKey: IdempotencyKey(unchecked: "code"),
            request: PaymentRequest(
                productID: product.id,
                quantity: 1,
                storefront: ticket.storefront,
                price: price,
                paymentMethod: ticket.paymentMethod,
                applicationUsername: ticket.applicationUsername
            ),
            trace: trace,
            code: SubmittedCode(digest: code.digest, confirmed: nil)
        )
    }

    /// The terms of a code for an account, by what is known now; nothing is locked, so it decides nothing.
    private func terms(
        of submission: PaymentSubmission,
        _ code: OfferCode,
        _ product: Product
    ) async throws -> Result<CodeTerms, PaymentRefusal> {
        guard let key = submission.subscriptionKey(of: product),
            let ordinary = product.prices[submission.request.storefront]
        else { return .failure(.codeOfferEnded) }
        let (redeemed, rows) = try await context.client.withConnection { connection in
            try connection.read(
                CodeStore.redeemed(by: [submission.accountKey]),
                SubscriptionStore.reading([key])
            )
        }
        let redemption = RedemptionKey(
            account: submission.accountKey,
            productID: code.productID,
            offerID: code.offerID
        )
        guard !redeemed.contains(redemption) else { return .failure(.codeRedeemedBefore) }
        let rules = context.subscriptions.dueActions
        let time = context.now()
        let row = rows.first ?? SubscriptionRow(key: key)
        return CodeRules.grant(
            by: code,
            of: product,
            in: submission.request.storefront,
            to: row,
            mayHaveIntroductory: SubscriptionRules.mayHaveIntroductoryOffer(
                row,
                at: time,
                by: rules
            ),
            at: time,
            by: rules
        ).map { CodeTerms(product: product.id, grant: $0, ordinary: ordinary) }
    }
}

extension Result {
    /// The value, or what a failure stands for.
    fileprivate func getOrElse(_ other: (Failure) -> Success) -> Success {
        switch self {
        case .success(let value): value
        case .failure(let failure): other(failure)
        }
    }
}

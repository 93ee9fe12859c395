import EventTypes
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit
import StoreAPI

/// The page for codes, and the tickets that open it.
///
/// An app has no other way to redeem a code (spec rule 111).
struct RedemptionRoutes: Sendable {
    let redemptions: RedemptionHandler
    /// Whether a request is refused that has the number of a card in it.
    let refusesCardNumbers: Bool
    /// The header in which the proxy in front names the address of a person; `nil` if there is none.
    let addressHeader: HTTPField.Name?

    func add(to router: StoreRouter) {
        router.account.post(RouterPath(Routes.redemptionTickets), use: open)
        router.open.get(RouterPath(Routes.redemptionPage), use: form)
        router.open.post(RouterPath(Routes.redemptionPage), use: redeem)
    }

    @Sendable
    private func open(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let account = try context.requireAccountKey()
        let body = try await decodeBody(RedemptionTicketRequest.self, from: request)
        if refusesCardNumbers, body.hasCardNumber { throw HTTPProblem.cardNumberRefused }
        let secret: String
        do {
            secret = try await redemptions.open(body, for: account)
        } catch let refusal as PaymentRefusal {
            throw refusal.problem
        }
        return try jsonResponse(
            RedemptionTicketResponse(
                path: "\(Routes.redemptionPage)?ticket=\(secret)",
                endsIn: RedemptionTicket.lifetime.milliseconds
            ),
            status: .created,
            headers: [.cacheControl: "no-store"]
        )
    }

    @Sendable
    private func form(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        guard let secret = request.uri.queryParameters.get("ticket") else { return incomplete }
        guard let ticket = try await redemptions.ticket(of: secret) else { return ticketOver }
        return page(RedemptionPage.form(secret, of: ticket.account))
    }

    @Sendable
    private func redeem(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await collectBody(of: request, upTo: 16 * 1024)
        let fields = Self.fields(body)
        guard let secret = fields["ticket"], let code = fields["code"] else { return incomplete }
        guard let ticket = try await redemptions.ticket(of: secret) else { return ticketOver }
        if refusesCardNumbers, CardNumber.isIn(code) { return cardNumber(secret, ticket) }
        let reply = try await redemptions.redeem(
            code,
            secret,
            confirmed: fields["confirmed"],
            from: addressHeader.flatMap { request.headers[$0] }.flatMap(AddressTries.address),
            trace: context.trace
        )
        switch reply {
        case .ticketOver: return ticketOver
        case .tooManyTries: return tooMany
        case .tooManyTriesFromAddress: return tooManyFromAddress
        case .offered(let terms):
            return page(
                RedemptionPage.question(
                    terms,
                    mark: terms.mark,
                    secret,
                    of: ticket.account,
                    code: code
                )
            )
        case .redeemed(let answer):
            return page(
                RedemptionPage.end("Your code was redeemed", try Self.sentence(about: answer))
            )
        case .refused(let refusal):
            return page(
                RedemptionPage.form(
                    secret,
                    of: ticket.account,
                    typed: code,
                    problem: Self.sentence(for: refusal)
                ),
                status: .unprocessableContent
            )
        }
    }

    /// The form again, without what was typed.
    private func cardNumber(_ secret: String, _ ticket: RedemptionTicket) -> Response {
        page(
            RedemptionPage.form(
                secret,
                of: ticket.account,
                problem: "This is the number of a card. Type the code here."
            ),
            status: .unprocessableContent
        )
    }

    private var tooMany: Response {
        page(
            RedemptionPage.end(
                "You have typed too many unknown codes",
                "Wait an hour, then open this page again from the app."
            ),
            status: .tooManyRequests
        )
    }

    private var tooManyFromAddress: Response {
        page(
            RedemptionPage.end(
                "Too many unknown codes were typed from your network",
                "Wait an hour, or use another network, and open this page again from the app."
            ),
            status: .tooManyRequests
        )
    }

    private var incomplete: Response {
        page(
            RedemptionPage.end(
                "This address is not complete",
                "Open this page again from the app."
            ),
            status: .badRequest
        )
    }

    private var ticketOver: Response {
        page(
            RedemptionPage.end(
                "This page has expired",
                "Open it again from the app. If you have redeemed a code, the app shows it."
            ),
            status: .gone
        )
    }

    /// The end of a payment that redeemed a code, by the answer to that payment.
    ///
    /// - Throws: `DecodingError` if it is no such answer.
    static func sentence(about answer: [UInt8]) throws -> String {
        let state =
            try Self.state(in: answer)
            ?? EventCoding.decode(TransactionChanged.self, from: answer).transaction.state
        return switch state {
        case .purchased: "You can go back to the app."
        case .deferred: "Somebody has to approve the purchase. The app will show what they decide."
        default: "The payment is on its way. The app will show it in a moment."
        }
    }

    /// The state of the transaction in the answer to a payment; `nil` if the answer is not plain JSON.
    ///
    /// The page needs nothing else of the transaction, so nothing else is read.
    static func state(in answer: [UInt8]) -> TransactionState? {
        PlainJSON.read(answer) { json in
            var state: String?
            let isRead = json.object { json, name in
                switch name {
                case "transaction":
                    json.object { json, name in
                        switch name {
                        case "state": PlainJSON.keep(json.string(), in: &state)
                        default: json.skip()
                        }
                    }
                default: json.skip()
                }
            }
            return isRead ? state.map(TransactionState.init(rawValue:)) : nil
        }
    }

    /// The sentence for a refusal.
    static func sentence(for refusal: PaymentRefusal) -> String {
        switch refusal {
        case .codeUnknown, .codeExpired, .codeUsed, .codeRedeemedBefore, .codeNotForCustomer,
            .codeOfferEnded:
            refusal.codeSentence
        case .alreadySubscribed:
            "You already have a subscription of this group that this code cannot change now."
        case .offerNotAvailable:
            "Your purchases have to be approved, and an offer that is free cannot be approved."
        case .paymentsNotAllowed: "This account may not buy anything."
        case .storefrontChanged: "The account has moved to another country. Open the app again."
        case .paymentMethodUnknown, .paymentMethodNotAvailable:
            "The app's payment method cannot be charged."
        default: "The code cannot be redeemed at present. Open the app again."
        }
    }

    /// The fields of a form; those that cannot be read are left out.
    private static func fields(_ body: ByteBuffer) -> [String: String] {
        var fields: [String: String] = [:]
        for case (let name?, let value?) in FormText.fields(of: Array(body.readableBytesView)) {
            fields[name] = value
        }
        return fields
    }

    /// The headers of every page.
    private static let headers: HTTPFields = {
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        ]
        for (name, value) in RedemptionPage.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return headers
    }()

    private func page(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: Self.headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}

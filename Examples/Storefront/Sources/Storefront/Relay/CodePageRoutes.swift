import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1

/// Opens the store's page on which a buyer redeems codes: `POST /api/code-page`.
///
/// The store has that page, so that no shop sees codes. This server gets a ticket that signs the
/// buyer in there, and answers with the whole address.
struct CodePageRoutes: Sendable {
    let store: StoreCaller
    let sessions: SessionRoutes

    func add(to router: Router<BasicRequestContext>) {
        router.post("/api/code-page") { request, _ in
            let session = try sessions.session(of: request)
            let body = try await request.body.collect(upTo: 4096)
            guard
                let wish = try? JSONDecoder().decode(Wish.self, from: Data(body.readableBytesView))
            else {
                throw StorefrontProblem.badRequest("not_json", "The body has a payment method.")
            }
            let order = Order(storefront: session.storefront, paymentMethod: wish.paymentMethod)
            var call = StoreCall(
                service: .payments,
                method: .POST,
                path: "/v1/redemption-tickets",
                headers: ["content-type": "application/json"]
            )
            call.body = ByteBuffer(bytes: try JSONEncoder().encode(order))
            let account = session.buyer.accountID
            let ticket: Ticket = try await store.value(of: call, for: account)
            let address = store.addresses.codePageOrigin + ticket.path
            return try jsonResponse(Answer(url: address, endsIn: ticket.endsIn))
        }
    }

    /// The page's wish: how to charge what a code does not make free.
    private struct Wish: Decodable {
        var paymentMethod: String
    }

    /// The body that the store asks for.
    private struct Order: Encodable {
        var storefront: String
        var paymentMethod: String
    }

    private struct Ticket: Decodable {
        var path: String
        var endsIn: Int64
    }

    private struct Answer: Encodable {
        var url: String
        var endsIn: Int64
    }
}

import EventTypes
import Postgres
import StoreAPI
import Stripe

/// Removes saved payment methods, and follows what banks change of them.
extension PaymentMethodHandler {
    /// The methods with which nothing may be charged while the buyer is away.
    @Sendable
    func unusable(of methods: [PaymentMethod]) async throws -> Set<PaymentMethod> {
        guard !methods.isEmpty else { return [] }
        return try await client.withConnection {
            try PaymentMethodStore.unusable(of: methods, on: $0)
        }
    }

    /// Removes a method of an account.
    ///
    /// Stripe forgets it first, so a removal that was interrupted is repeated. A subscription that is
    /// paid with it is declined at its next renewal.
    ///
    /// - Returns: Whether the account has saved it.
    /// - Throws: `StripeFailure`; `PostgresError`.
    func remove(_ method: PaymentMethod, of account: AccountKey) async throws -> Bool {
        let isKnown = try await client.withConnection {
            try PaymentMethodStore.isKnown(method, of: account, on: $0)
        }
        guard isKnown else { return false }
        let key = StripeIdempotencyKey(
            attempt: method.rawValue,
            kind: .detach,
            generation: Int(now().millisecondsSinceEpoch)
        )
        do throws(StripeFailure) {
            _ = try await gate.pass(.setups) { () async throws(StripeFailure) in
                try await stripe.detachPaymentMethod(method.rawValue, key: key)
            }
        } catch {
            // Stripe does not have it, or has removed it before.
            guard error.kind == .missing || error.status == 400 else { throw error }
        }
        try await client.withConnection { [now] in
            try PaymentMethodStore.remove(method, at: now(), on: $0)
        }
        return true
    }

    /// Writes what a saved method is now, after Stripe has told of a change.
    ///
    /// - Throws: `StripeFailure`; `PostgresError`.
    func refresh(_ id: String) async throws {
        let method = PaymentMethod(rawValue: id)
        let isKnown = try await client.withConnection {
            try PaymentMethodStore.isKnown(method, of: nil, on: $0)
        }
        guard isKnown else { return }
        let found = try await gate.pass(.inquiries) { () async throws(StripeFailure) in
            try await stripe.paymentMethod(id)
        }
        try await client.withConnection { [now] connection in
            guard found.customer != nil, let card = found.card else {
                return try PaymentMethodStore.remove(method, at: now(), on: connection)
            }
            try PaymentMethodStore.renew(
                method,
                brand: card.brand,
                lastFour: card.lastFour,
                expiryMonth: card.expiryMonth,
                expiryYear: card.expiryYear,
                on: connection
            )
        }
    }
}

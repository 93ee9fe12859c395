import Postgres
import StoreAPI

/// Reads what calls to Stripe have to know of saved payment methods and of their accounts there.
struct SavedMethodReader: Sendable {
    let client: PostgresClient

    /// Reads the buyers to whom methods belong.
    @Sendable
    func customers(of methods: [PaymentMethod]) async throws -> [PaymentMethod: ProcessorBuyer] {
        try await client.withConnection { try PaymentMethodStore.customers(of: methods, on: $0) }
    }

    /// Reads the accounts at the processor where methods were saved.
    @Sendable
    func homes(of methods: [PaymentMethod]) async throws -> [PaymentMethod: ProcessorAccountName] {
        try await client.withConnection { try PaymentMethodStore.homes(of: methods, on: $0) }
    }

    /// Reads the buyers that the accounts of methods are at all accounts at the processor.
    @Sendable
    func buyers(of methods: [PaymentMethod]) async throws -> [PaymentMethod: BuyerAccounts] {
        try await client.withConnection { try CustomerStore.buyers(of: methods, on: $0) }
    }

    /// Reads the accounts at the processor that the store has used.
    func usedAccounts() async throws -> [ProcessorAccountName] {
        try await client.withConnection { try StripeListStore.movements.accounts(on: $0) }
    }

    /// The methods by which no renewal is charged.
    @Sendable
    func unusable(of methods: [PaymentMethod]) async throws -> Set<PaymentMethod> {
        guard !methods.isEmpty else { return [] }
        return try await client.withConnection {
            try PaymentMethodStore.unusable(of: methods, on: $0)
        }
    }
}

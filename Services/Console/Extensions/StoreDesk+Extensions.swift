import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// Extensions: the books of `payments` to look into, and its routes to ask for them.
extension StoreDesk {
    /// Extends the newest period of a subscription, once for a key.
    func extend(
        _ id: TransactionID,
        by request: ExtensionRequest,
        key: IdempotencyKey,
        token: String
    ) async throws {
        _ = try await connection(to: .payments, token: token).send(
            .POST,
            Routes.adminExtensions(id),
            .json(request, headers: [("Idempotency-Key", key.rawValue)])
        )
    }

    /// Asks to extend all subscribers of a product, once for a key.
    func extendAll(
        _ request: MassExtensionRequest,
        key: IdempotencyKey,
        token: String
    ) async throws -> MassExtension {
        try await connection(to: .payments, token: token).send(
            .POST,
            Routes.adminMassExtensions,
            .json(request, headers: [("Idempotency-Key", key.rawValue)]),
            as: MassExtensionResponse.self
        ).request
    }

    /// The newest requests to extend all subscribers of a product.
    func massExtensions(of product: ProductID) async throws -> [ListedMassExtension] {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try MassExtensionListStore.newest(of: product, on: $0)
        }
    }

    /// One of these requests.
    ///
    /// - Throws: ``ConsoleProblem`` if there is none with this number; `OperatorError` if the
    ///   database cannot be read.
    func massExtension(_ number: Int64, of product: ProductID) async throws -> ListedMassExtension {
        let found = try await DatabaseReader.read(databases.address(of: .payments)) {
            try MassExtensionListStore.request(number, of: product, on: $0)
        }
        guard let found else { throw ConsoleProblem.notFound }
        return found
    }

    /// The number of those whom a request would be about.
    func subscribers(of wish: MassExtensionForm.Wish) async throws -> BoundedCount {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try MassExtensionListStore.subscribers(
                of: wish.productID,
                in: wish.bundleID,
                wish.storefronts,
                on: $0
            )
        }
    }
}

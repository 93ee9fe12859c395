import EventTypes
import Foundation
import NIOHTTP1
import OperatorCore
import StoreAPI

/// Products: the books of `catalog` to list, and its routes to read and change one.
extension StoreDesk {
    /// The most products on a page.
    static let productsMax = 50

    /// A page of products, with the prices of the moment.
    func products(after id: String) async throws -> (products: [Product], isCut: Bool) {
        let time = try await storeTime()
        let (products, isCut) = try await DatabaseReader.read(databases.address(of: .catalog)) {
            try CatalogListStore.page(after: id, limit: Self.productsMax, on: $0)
        }
        return (products.map { $0.inForce(at: time) }, isCut)
    }

    /// A product, ready to be changed as it is now.
    func product(_ id: ProductID, token: String) async throws -> ProductEdit {
        let answer = try await connection(to: .catalog, token: token)
            .send(.GET, Routes.adminProduct(id))
        return try ProductEdit(answer)
    }

    /// Saves a product, if it is still at the version that was read.
    func save(
        _ wish: ProductWish,
        onto edit: ProductEdit,
        because reason: ActReason?,
        token: String
    ) async throws {
        try await save(try edit.draft(wish, because: reason), onto: edit, token: token)
    }

    /// Saves the offers of a product, if it is still at the version that was read.
    func save(
        _ offers: ProductOffers,
        onto edit: ProductEdit,
        because reason: ActReason?,
        token: String
    ) async throws {
        try await save(try edit.draft(offers, because: reason), onto: edit, token: token)
    }

    private func save(_ draft: Data, onto edit: ProductEdit, token: String) async throws {
        let content = StoreConnection.Content(
            headers: [("If-Match", "\"\(edit.version)\"")],
            body: draft
        )
        _ = try await connection(to: .catalog, token: token)
            .send(.PUT, Routes.adminProduct(edit.product.id), content)
    }
}

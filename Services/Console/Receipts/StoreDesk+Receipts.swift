import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The receipts that apps get, which `receipts` signs.
extension StoreDesk {
    /// The signed receipt of a transaction, as it is now.
    ///
    /// - Throws: `OperatorError`, with the status 404 if nothing was signed for it.
    func receipt(of id: TransactionID, token: String) async throws -> ReceiptResponse {
        try await connection(to: .receipts, token: token)
            .send(.GET, "\(Routes.adminTransactions)/\(id)/receipt", as: ReceiptResponse.self)
    }
}

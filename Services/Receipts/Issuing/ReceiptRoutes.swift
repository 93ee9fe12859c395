import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The routes for receipts, their owners, and the root certificate to verify them with.
struct ReceiptRoutes: Sendable {
    let reader: ReceiptReader
    let rootCertificate: [UInt8]

    /// Adds the routes.
    func add(to router: StoreRouter) {
        router.account.get("\(Routes.transactions)/{id}/receipt") { request, context in
            try await receipt(context)
        }
        router.account.get("\(Routes.rootCertificate)") { request, context in
            rootCertificateResponse()
        }
        router.admin.get("\(Routes.adminTransactions)/{id}/receipt") { request, context in
            try await anyReceipt(context)
        }
    }

    private func receipt(_ context: StoreRequestContext) async throws -> Response {
        let account = try context.requireAccount()
        return try await response(
            context.parameters.get("id"),
            owner: (account.accountID, account.bundleID)
        )
    }

    private func anyReceipt(_ context: StoreRequestContext) async throws -> Response {
        _ = try context.requireAdministrator()
        return try await response(context.parameters.get("id"), owner: nil)
    }

    private func rootCertificateResponse() -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/pkix-cert"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: rootCertificate))
        )
    }

    private func response(
        _ parameter: String?,
        owner: (account: AccountID, bundle: BundleID)?
    ) async throws -> Response {
        // An invalid transaction id is answered like one that does not exist.
        guard let id = parameter.flatMap(TransactionID.init(rawValue:)) else {
            throw unknownTransaction()
        }
        guard let receipt = try await reader.receipt(of: id, owner: owner) else {
            throw unknownTransaction()
        }
        return try jsonResponse(receipt)
    }

    private func unknownTransaction() -> HTTPProblem {
        HTTPProblem(
            .notFound,
            code: "transaction_unknown",
            title: "Transaction unknown",
            detail: "There is no receipt of that transaction for this account. A receipt is there "
                + "a moment after the purchase."
        )
    }
}

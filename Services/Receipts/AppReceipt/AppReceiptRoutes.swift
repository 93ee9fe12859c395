import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The route of the app receipt.
struct AppReceiptRoutes: Sendable {
    let reader: AppReceiptReader

    /// Adds the route.
    func add(to router: StoreRouter) {
        router.account.get("\(Routes.appReceipt)") { request, context in
            try await appReceipt(request, context)
        }
    }

    private func appReceipt(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let account = try context.requireAccount()
        let question = try AppReceiptQuestion(
            request.uri.queryParameters,
            environment: reader.environment
        )
        let receipt = try await reader.receipt(
            of: (account.accountID, account.bundleID),
            question
        )
        return Response(
            status: .ok,
            headers: [
                .contentType: "application/pkcs7-mime; smime-type=signed-data",
                .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: receipt))
        )
    }
}

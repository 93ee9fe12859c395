import NIOCore
import NIOHTTP1

/// A request to a service of the store, without the token.
struct StoreCall: Sendable {
    /// The service.
    var service: StoreService
    /// The method.
    var method: HTTPMethod
    /// The path and the query.
    var path: String
    /// The headers that are passed on.
    var headers: HTTPHeaders = [:]
    /// The body, if any.
    var body: ByteBuffer?

    /// Makes a request that reads something.
    static func get(_ service: StoreService, _ path: String) -> StoreCall {
        StoreCall(service: service, method: .GET, path: path)
    }
}

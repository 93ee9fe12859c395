import ClockAndIDs
public import Hummingbird
import NIOCore
public import StoreTracing

/// The context of a request: everything a handler knows besides the request itself.
public struct StoreRequestContext: RequestContext {
    /// The router's own storage.
    public var coreContext: CoreRequestContextStorage
    /// The account of the request's token, on routes that require an account token.
    public var account: AuthenticatedAccount?
    /// The administrator of the request's token, on routes that require an administrator token.
    public var administrator: AuthenticatedAdministrator?

    /// The merchant's server that sent the request, on routes of the App Store Server API.
    public var server: AuthenticatedServer?

    /// The trace of the request: its client's, or a new one.
    public internal(set) var trace: TraceContext

    /// The connection, so that it can be closed after a refusal.
    let channel: any Channel

    /// Closes the connection at once and drops anything not yet written.
    ///
    /// Safe to call from any task and at any time, also long after the request was answered.
    public var hangUp: @Sendable () -> Void {
        { [channel] in channel.close(promise: nil) }
    }

    /// The address of the client, or of the proxy in front of the service, without a port.
    ///
    /// It is empty if the connection has none.
    public var peerAddress: String { channel.remoteAddress?.ipAddress ?? "" }

    /// Makes the context of a request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        // Every request begins one, so the kernel is not asked each time.
        var randomBits = RandomBlock()
        trace = .begin(using: &randomBits)
    }

    /// The account of the request.
    ///
    /// - Throws: ``HTTPProblem`` 401 on a route that does not require an account token.
    public func requireAccount() throws -> AuthenticatedAccount {
        guard let account else {
            throw HTTPProblem.unauthorized("Send an account token: Authorization: Bearer <token>.")
        }
        return account
    }

    /// The administrator of the request.
    ///
    /// - Throws: ``HTTPProblem`` 401 on a route that does not require an administrator token.
    public func requireAdministrator() throws -> AuthenticatedAdministrator {
        guard let administrator else {
            throw HTTPProblem.unauthorized(
                "Send an administrator token: Authorization: Bearer <token>."
            )
        }
        return administrator
    }
}

public import Hummingbird
import NIOCore
public import StoreTracing

/// What a handler knows of a request beside the request itself.
public struct StoreRequestContext: RequestContext {
    /// What the router keeps.
    public var coreContext: CoreRequestContextStorage
    /// The account whose token the request carries, on routes that ask for one.
    public var account: AuthenticatedAccount?
    /// The administrator whose token the request carries, on routes that ask for one.
    public var administrator: AuthenticatedAdministrator?

    /// The merchant's server that the request comes from, on routes of the App Store Server API.
    public var server: AuthenticatedServer?

    /// The trace that the request belongs to: its client's, or one of its own.
    public internal(set) var trace: TraceContext

    /// The connection, so that it can be closed after a refusal.
    let channel: any Channel

    /// Closes the connection at once, whatever still waits to be written to it.
    ///
    /// Safe to call from any task and at any time, also long after the request was answered.
    public var hangUp: @Sendable () -> Void {
        { [channel] in channel.close(promise: nil) }
    }

    /// Makes the context of a request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        trace = .begin()
    }

    /// The account that the request speaks for.
    ///
    /// - Throws: ``HTTPProblem`` 401 on a route that does not ask for an account token.
    public func requireAccount() throws -> AuthenticatedAccount {
        guard let account else {
            throw HTTPProblem.unauthorized("Send an account token: Authorization: Bearer <token>.")
        }
        return account
    }

    /// The administrator that the request speaks for.
    ///
    /// - Throws: ``HTTPProblem`` 401 on a route that does not ask for an administrator token.
    public func requireAdministrator() throws -> AuthenticatedAdministrator {
        guard let administrator else {
            throw HTTPProblem.unauthorized(
                "Send an administrator token: Authorization: Bearer <token>."
            )
        }
        return administrator
    }
}

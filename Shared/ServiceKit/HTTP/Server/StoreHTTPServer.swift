import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import NIOHTTP1
public import ServiceLifecycle

/// Serves a router's routes over HTTP/1.1.
///
/// It answers from the start, so that `/health/live` and `/health/ready` work while the service
/// still waits for its database. On graceful shutdown it stops accepting connections, finishes the
/// requests in progress, and ends.
public struct StoreHTTPServer: Service {
    /// Every route of the server, as its method and path: `GET /v1/transactions/{id}`.
    public let routes: Set<String>

    private let responder: ShallowResponder
    private let settings: HTTPSettings
    private let logger: Logger
    private let descriptors: DescriptorLimit?
    private let didListen: @Sendable (Int) -> Void

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - router: The routes; routes added later are ignored.
    ///   - settings: The address, the limits and the timeouts.
    ///   - logger: Receives the server's log messages.
    ///   - didListen: Called with the port once the server listens on it.
    public init(
        router: StoreRouter,
        settings: HTTPSettings,
        logger: Logger,
        didListen: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        routes = router.routes
        responder = ShallowResponder(router: router.buildResponder())
        self.settings = settings
        self.logger = logger
        descriptors = DescriptorLimit.raise()
        self.didListen = didListen
    }

    /// The number of connections that are served at once, limited by the available descriptors.
    private var connectionsMax: Int {
        guard let allowed = descriptors?.connections(of: settings.connectionsMax),
            allowed < settings.connectionsMax
        else { return settings.connectionsMax }
        logger.warning(
            "fewer connections are served than HTTP_CONNECTIONS_MAX says: too few open files are allowed",
            metadata: [
                "connections": "\(allowed)", "wanted": "\(settings.connectionsMax)",
                "files.max": "\(descriptors?.count ?? 0)",
            ]
        )
        return allowed
    }

    /// Serves until graceful shutdown.
    ///
    /// - Throws: ``ServiceKitError`` if the server cannot listen on the address.
    public func run() async throws {
        do {
            try await application().run()
        } catch let error as IOError {
            throw cannotListen(error.errnoCode, "\(error)")
        } catch let error as SocketAddressError {
            throw cannotListen(0, "\(error)")
        }
    }

    private func application() -> Application<ShallowResponder> {
        // The libraries below would log what this server already logs.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .critical)
        let settings = settings
        let logger = logger
        let didListen = didListen
        return Application(
            responder: responder,
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [ConnectionOptionsHandler()],
                    idleTimeout: .nanoseconds(settings.idleTimeout.nanoseconds),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16 * 1024,
                        maxHeaderListSize: 32 * 1024,
                        maxHeaderFieldCount: 100
                    )
                )
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port),
                backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    connectionsMax,
                    logger: quiet
                )
            ),
            onServerRunning: { channel in
                await Self.restWhereNothingCanBeAccepted(channel, logger)
                let port = channel.localAddress?.port ?? settings.port
                logger.info(
                    "listening",
                    metadata: ["host": "\(settings.host)", "port": "\(port)"]
                )
                didListen(port)
            },
            logger: quiet
        )
    }

    /// Adds the pausing handler before the server's own handlers, which would stop accepting for
    /// good.
    private static func restWhereNothingCanBeAccepted(
        _ channel: any Channel,
        _ logger: Logger
    ) async {
        let added = channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(
                AcceptPauseHandler(logger: logger),
                position: .first
            )
        }
        // This fails only on a closed channel, which accepts nothing anyway.
        try? await added.get()
    }

    private func cannotListen(_ errnoCode: Int32, _ text: String) -> ServiceKitError {
        let address = "\(settings.host):\(settings.port)"
        switch errnoCode {
        case EADDRINUSE:
            return ServiceKitError(
                .addressInUse,
                "\(address) is taken by another process; stop it or set HTTP_PORT to a free port"
            )
        case EACCES:
            return ServiceKitError(
                .cannotListen,
                "\(address) needs a privilege; set HTTP_PORT to 1024 or above"
            )
        case EADDRNOTAVAIL:
            return ServiceKitError(
                .cannotListen,
                "\(address) is not an address of this machine; set HTTP_HOST"
            )
        default:
            return ServiceKitError(.cannotListen, "\(address) cannot be listened on: \(text)")
        }
    }
}

/// Answers requests for streams in tasks that end before the streams begin.
///
/// A task keeps the memory of its deepest call as long as it lives, and a connection's task lives
/// as long as its stream. Routing, middleware, authentication and the database need deep calls: 20
/// KB for each of thousands of streams. Other requests end soon and need no task of their own.
private struct ShallowResponder: HTTPResponder {
    let router: RouterResponder<StoreRequestContext>

    func respond(
        to request: Request,
        context: StoreRequestContext
    ) async throws -> Response {
        guard request.headers[.accept]?.contains("text/event-stream") == true else {
            return try await router.respond(to: request, context: context)
        }
        async let response = router.respond(to: request, context: context)
        return try await response
    }
}

extension Duration {
    /// The duration in whole nanoseconds.
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}

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
            try await server().run()
        } catch let error as IOError {
            throw cannotListen(error.errnoCode, "\(error)")
        } catch let error as SocketAddressError {
            throw cannotListen(0, "\(error)")
        }
    }

    /// Builds the server without Hummingbird's `Application`, which would wake up every second to write a
    /// date, and give each request a number that nobody logs.
    private func server() throws -> any Service {
        // The libraries below would log what this server already logs.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .critical)
        let (logger, silent) = (logger, quiet)
        let (settings, didListen) = (settings, didListen)
        let responder = responder
        let date = ResponseDate()
        return try HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [ConnectionOptionsHandler()],
                idleTimeout: .nanoseconds(settings.idleTimeout.nanoseconds),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16 * 1024,
                    maxHeaderListSize: 32 * 1024,
                    maxHeaderFieldCount: 100
                )
            )
        ).buildServer(
            configuration: ServerConfiguration(
                address: .hostname(settings.host, port: settings.port),
                backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    connectionsMax,
                    logger: silent
                )
            ),
            eventLoopGroup: EventLoopGroupProvider.singleton.eventLoopGroup,
            logger: silent
        ) { (request, writer: consuming ResponseWriter, channel) in
            let source = ApplicationRequestContextSource(channel: channel, logger: silent)
            var response = try await responder.answer(request, StoreRequestContext(source: source))
            response.headers[.date] = date.text
            do {
                try await writer.write(response: response.head, body: response.body)
            } catch is HTTPParserError {
                // The server would answer the error itself, in the middle of this answer.
                throw BrokenAnswer()
            }
        } onServerRunning: { channel in
            await Self.restWhereNothingCanBeAccepted(channel, logger)
            let port = channel.localAddress?.port ?? settings.port
            logger.info(
                "listening",
                metadata: ["host": "\(settings.host)", "port": "\(port)"]
            )
            didListen(port)
        }
    }

    /// A request turned out to be unreadable while it was answered.
    private struct BrokenAnswer: Error {}

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

    /// Answers a request, whatever happens.
    ///
    /// - Throws: `HTTPParserError` if the rest of the request is unreadable, which the server answers.
    func answer(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        do {
            return try await respond(to: request, context: context)
        } catch let error as HTTPParserError {
            throw error
        } catch {
            return Response(status: .internalServerError)
        }
    }
}

extension Duration {
    /// The duration in whole nanoseconds.
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}

public import AsyncHTTPClient
import Foundation
import NIOCore
import Synchronization

/// An HTTP client for many hosts, in which a slow name server delays only its own names.
///
/// A plain `HTTPClient` resolves names one after the other on each of its few event loops, so one
/// name without an answer delays every new connection. Here names are resolved in advance and
/// concurrently, and each address has a client of its own. The request and TLS keep the name.
///
/// Any number of requests may be under way at once, from any task. Call ``shutDown()`` once, at the
/// end.
public final class HostClients: Sendable {
    /// The number of hosts whose connections are kept.
    private static let hostsMax = 256
    /// The number of a host's addresses that are tried.
    private static let addressesMax = 4

    private struct Destination: Hashable {
        let host: String
        /// The resolved address, or `nil` if the URL contains an address.
        let address: String?
    }

    private struct Entry {
        let client: HTTPClient
        var requests = 0
        var lastUse = 0
    }

    private struct State {
        var entries: [Destination: Entry] = [:]
        var uses = 0
        var isShutDown = false
    }

    private let configuration: HTTPClient.Configuration
    private let lookups: NameLookups
    private let state = Mutex(State())

    /// Creates the clients' common part, without connecting.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of every client. It should not retry connecting
    ///     (`retryConnectionEstablishment`), because the next address is tried here.
    ///   - resolver: Finds the addresses of names.
    ///   - addressLifetime: The time for which addresses are cached, because `getaddrinfo` does not
    ///     report how long they are valid.
    public init(
        configuration: HTTPClient.Configuration,
        resolver: any NameResolver = SystemResolver(),
        addressLifetime: Duration = .seconds(10)
    ) {
        self.configuration = configuration
        lookups = NameLookups(resolver: resolver, lifetime: addressLifetime)
    }

    /// Sends a request and reads the answer.
    ///
    /// If connecting to an address fails, the host's next one is tried.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - timeout: The time limit from looking up the name to the head of the answer.
    ///   - read: Reads the answer. Whatever it leaves unread may be lost once 256 other hosts are
    ///     used.
    /// - Returns: The value that `read` returns.
    /// - Throws: ``NameResolutionError``, `HTTPClientError` and other errors of the client, or any
    ///   error of `read`.
    public func execute<Answer>(
        _ request: HTTPClientRequest,
        timeout: Duration,
        _ read: (HTTPClientResponse) async throws -> Answer
    ) async throws -> Answer {
        let deadline = ContinuousClock.now.advanced(by: timeout)
        var destinations = try await destinations(of: request.url, until: deadline)[...]
        while true {
            let destination = destinations.removeFirst()
            let client = try await take(destination)
            defer { giveBack(destination) }
            let response: HTTPClientResponse
            do {
                let left = ContinuousClock.now.duration(to: deadline)
                response = try await client.execute(
                    request,
                    timeout: .nanoseconds(max(left.nanoseconds, 1))
                )
            } catch  where !destinations.isEmpty && Self.isNotConnected(error) {
                continue
            }
            return try await read(response)
        }
    }

    /// Closes the connections.
    public func shutDown() async throws {
        let clients = state.withLock { state in
            state.isShutDown = true
            defer { state.entries = [:] }
            return state.entries.values.map(\.client)
        }
        for client in clients { try await client.shutdown() }
    }

    /// Returns the destinations that a URL leads to.
    ///
    /// An invalid URL is reported by the client.
    private func destinations(
        of url: String,
        until deadline: ContinuousClock.Instant
    ) async throws -> [Destination] {
        // The host is parsed as the client does it.
        let address = URL(string: url)
        let host = (address?.host ?? "").trimmingCharacters(in: ["[", "]"])
        let isHTTP = ["http", "https"].contains(address?.scheme?.lowercased())
        // An error says that the host is no IP address but a name, which is looked up.
        if host.isEmpty || !isHTTP || (try? SocketAddress(ipAddress: host, port: 0)) != nil {
            return [Destination(host: host, address: nil)]
        }
        return try await lookups.addresses(of: host, until: deadline)
            .prefix(Self.addressesMax).map { Destination(host: host, address: $0) }
    }

    private func take(_ destination: Destination) async throws -> HTTPClient {
        let (client, dropped) = try state.withLock { state -> (HTTPClient, HTTPClient?) in
            guard !state.isShutDown else { throw HTTPClientError.alreadyShutdown }
            state.uses += 1
            var entry = state.entries[destination] ?? Entry(client: makeClient(of: destination))
            entry.requests += 1
            entry.lastUse = state.uses
            state.entries[destination] = entry
            guard state.entries.count > Self.hostsMax else { return (entry.client, nil) }
            let idle = state.entries.filter { $0.value.requests == 0 }
            let oldest = idle.min { $0.value.lastUse < $1.value.lastUse }?.key
            return (entry.client, oldest.flatMap { state.entries.removeValue(forKey: $0)?.client })
        }
        // The dropped client has no requests under way.
        try? await dropped?.shutdown()
        return client
    }

    private func giveBack(_ destination: Destination) {
        state.withLock { $0.entries[destination]?.requests -= 1 }
    }

    private func makeClient(of destination: Destination) -> HTTPClient {
        var configuration = configuration
        if let address = destination.address {
            configuration.dnsOverride = [destination.host: address]
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Whether the request failed before there was a connection to send it on.
    private static func isNotConnected(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .connectTimeout
        case let error as IOError:
            [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL].contains(error.errnoCode)
        case ChannelError.connectTimeout: true
        default: false
        }
    }
}

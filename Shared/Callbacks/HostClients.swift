public import AsyncHTTPClient
import Foundation
import NIOCore
import Synchronization

/// HTTP to many hosts, none of which holds up another by the name server that it depends on.
///
/// An `HTTPClient` by itself resolves names one after the other on each of its few event loops: one
/// name without an answer, and every new connection waits for it. Here names are resolved before, side
/// by side, and each address has a client of its own that is given it. The name stays in the
/// request and in TLS.
///
/// Any number of requests may be under way at once, from any task. Shut it down once, at the end.
public final class HostClients: Sendable {
    /// How many hosts' connections are kept.
    private static let hostsMax = 256
    /// How many of a host's addresses are tried.
    private static let addressesMax = 4

    private struct Place: Hashable {
        let host: String
        /// `nil`: the host is its own address.
        let address: String?
    }

    private struct Entry {
        let client: HTTPClient
        var requests = 0
        var lastUse = 0
    }

    private struct State {
        var entries: [Place: Entry] = [:]
        var uses = 0
        var isShutDown = false
    }

    private let configuration: HTTPClient.Configuration
    private let lookups: NameLookups
    private let state = Mutex(State())

    /// Makes the clients' common part; connects to nothing.
    ///
    /// - Parameters:
    ///   - configuration: That of every client. It should not try again to connect by itself
    ///     (`retryConnectionEstablishment`): the next address is tried here.
    ///   - resolver: Finds the addresses of names.
    ///   - addressLifetime: How long found addresses are used; `getaddrinfo` does not tell how long
    ///     they hold.
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
    /// An address that cannot be connected to is followed by the host's next one.
    ///
    /// - Parameters:
    ///   - request: What is sent.
    ///   - timeout: How long it may take, from the look-up of the name to the head of the answer.
    ///   - read: Reads the answer. What it leaves unread may end once 256 other hosts are talked to.
    /// - Returns: What was read.
    /// - Throws: ``NameResolutionError``, `HTTPClientError` and others of the client, or what `read`
    ///   throws.
    public func execute<Answer>(
        _ request: HTTPClientRequest,
        timeout: Duration,
        _ read: (HTTPClientResponse) async throws -> Answer
    ) async throws -> Answer {
        let deadline = ContinuousClock.now.advanced(by: timeout)
        var places = try await places(of: request.url, until: deadline)[...]
        while true {
            let place = places.removeFirst()
            let client = try await take(place)
            defer { giveBack(place) }
            let response: HTTPClientResponse
            do {
                let left = ContinuousClock.now.duration(to: deadline)
                response = try await client.execute(
                    request,
                    timeout: .nanoseconds(max(left.nanoseconds, 1))
                )
            } catch  where !places.isEmpty && Self.isNotConnected(error) {
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

    /// Where a URL leads; what is wrong with one the client says.
    private func places(
        of url: String,
        until deadline: ContinuousClock.Instant
    ) async throws -> [Place] {
        // As the client reads it.
        let address = URL(string: url)
        let host = (address?.host ?? "").trimmingCharacters(in: ["[", "]"])
        let isHTTP = ["http", "https"].contains(address?.scheme?.lowercased())
        if host.isEmpty || !isHTTP || (try? SocketAddress(ipAddress: host, port: 0)) != nil {
            return [Place(host: host, address: nil)]
        }
        return try await lookups.addresses(of: host, until: deadline)
            .prefix(Self.addressesMax).map { Place(host: host, address: $0) }
    }

    private func take(_ place: Place) async throws -> HTTPClient {
        let (client, dropped) = try state.withLock { state -> (HTTPClient, HTTPClient?) in
            guard !state.isShutDown else { throw HTTPClientError.alreadyShutdown }
            state.uses += 1
            var entry = state.entries[place] ?? Entry(client: makeClient(of: place))
            entry.requests += 1
            entry.lastUse = state.uses
            state.entries[place] = entry
            guard state.entries.count > Self.hostsMax else { return (entry.client, nil) }
            let idle = state.entries.filter { $0.value.requests == 0 }
            let oldest = idle.min { $0.value.lastUse < $1.value.lastUse }?.key
            return (entry.client, oldest.flatMap { state.entries.removeValue(forKey: $0)?.client })
        }
        // Nothing is under way on it.
        try? await dropped?.shutdown()
        return client
    }

    private func giveBack(_ place: Place) {
        state.withLock { $0.entries[place]?.requests -= 1 }
    }

    private func makeClient(of place: Place) -> HTTPClient {
        var configuration = configuration
        if let address = place.address { configuration.dnsOverride = [place.host: address] }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Whether there was no connection that anything could have been sent on.
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

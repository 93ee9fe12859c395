#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// How many descriptors the process may have, and what it does with them.
///
/// A connection of a client is one. The database, the broker, threads' wake-ups, files of hosted
/// contents and calls to others need theirs, and go first: a service that cannot reach its database
/// serves nobody.
struct DescriptorLimit: Sendable {
    /// What a service has open besides the connections of clients: it starts with some 45.
    static let own = 96
    /// With fewer connections than this there is no work to speak of.
    static let connectionsMin = 16

    /// How many descriptors the process may have.
    var count: Int

    /// How many connections of clients that allows, of those that are wanted: a part goes with them
    /// to files and calls, so an eighth is kept.
    ///
    /// - Parameter wanted: `HTTP_CONNECTIONS_MAX`.
    /// - Returns: The number; `nil` if it is too few to work at all.
    func connections(of wanted: Int) -> Int? {
        let allowed = count - Self.own - count / 8
        guard allowed >= Self.connectionsMin else { return nil }
        return min(wanted, allowed)
    }

    /// The least limit that a service works with.
    static var least: Int {
        var limit = DescriptorLimit(count: own + connectionsMin)
        while limit.connections(of: .max) == nil { limit.count += 1 }
        return limit.count
    }

    /// Lets the process have as many descriptors as the system allows it: the usual first limit,
    /// 1,024, is less than `HTTP_CONNECTIONS_MAX`.
    ///
    /// - Returns: The limit there is then; `nil` if the system does not tell.
    @discardableResult
    static func raise() -> DescriptorLimit? {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        limit.rlim_cur = limit.rlim_max
        // Where the system does not let it, the limit stays.
        _ = setrlimit(resource, &limit)
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return DescriptorLimit(count: Int(clamping: limit.rlim_cur))
    }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The number of file descriptors that the process may open, and their division.
///
/// Each client connection needs one. The database, the broker, thread wake-ups, files of hosted
/// contents and outgoing calls need theirs first: a service that cannot reach its database is of no
/// use to anybody.
struct DescriptorLimit: Sendable {
    /// The descriptors reserved for everything except client connections; a service starts with
    /// about 45.
    static let own = 96
    /// The smallest number of client connections with which a service can usefully work.
    static let connectionsMin = 16

    /// The number of descriptors that the process may open.
    var count: Int

    /// The number of client connections that the limit allows, up to a wanted number.
    ///
    /// Connections also cause files to be opened and calls to be made, so an eighth of the
    /// descriptors is kept for those.
    ///
    /// - Parameter wanted: `HTTP_CONNECTIONS_MAX`.
    /// - Returns: The number; `nil` if it is too small to work at all.
    func connections(of wanted: Int) -> Int? {
        let allowed = count - Self.own - count / 8
        guard allowed >= Self.connectionsMin else { return nil }
        return min(wanted, allowed)
    }

    /// The smallest limit with which a service works.
    static var least: Int {
        var limit = DescriptorLimit(count: own + connectionsMin)
        while limit.connections(of: .max) == nil { limit.count += 1 }
        return limit.count
    }

    /// Raises the process's limit to the largest that the system allows.
    ///
    /// The usual initial limit, 1,024, is less than `HTTP_CONNECTIONS_MAX`.
    ///
    /// - Returns: The new limit; `nil` if the system does not report one.
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
        // If the system refuses, the limit stays as it is.
        _ = setrlimit(resource, &limit)
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return DescriptorLimit(count: Int(clamping: limit.rlim_cur))
    }
}

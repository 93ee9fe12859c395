#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Lets the process have as many descriptors as the system allows it: a connection is one, and the
/// usual first limit, 1,024, is less than `HTTP_CONNECTIONS_MAX`.
///
/// Where the system does not let it, the limit stays, and connections beyond it wait.
func raiseDescriptorLimit() {
    #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let resource = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(resource, &limit)
}

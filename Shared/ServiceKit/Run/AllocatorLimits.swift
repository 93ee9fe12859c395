import Foundation

/// Limits the freed memory that glibc's allocator keeps for later.
///
/// A service has some forty threads, most of which rarely run. glibc would give up to eight arenas for
/// each processor to them, and each arena keeps what its threads have freed. It would also learn from a
/// large buffer, such as a fetch from a backlog, to take such buffers from the arenas. From then on it
/// would keep twice as much in each of them.
///
/// On other systems this does nothing. The operator's own variables of glibc come first.
struct AllocatorLimits: Hashable {
    /// A parameter of `mallopt`, by the number that glibc's header gives it.
    enum Parameter: Int32 {
        /// The most that is kept at the end of an arena, in bytes.
        case trimThreshold = -1
        /// The size from which a buffer has pages of its own, which are given back with it.
        case mapThreshold = -3
        /// The number of arenas.
        case arenasMax = -8

        /// The environment variable by which glibc takes the same parameter.
        var variable: String {
            switch self {
            case .trimThreshold: "MALLOC_TRIM_THRESHOLD_"
            case .mapThreshold: "MALLOC_MMAP_THRESHOLD_"
            case .arenasMax: "MALLOC_ARENA_MAX"
            }
        }
    }

    /// The values to set.
    private(set) var values: [Parameter: Int32] = [:]

    /// Decides the limits of a process.
    ///
    /// - Parameters:
    ///   - processors: The number of processors: so many threads allocate at the same time.
    ///   - environment: The process's environment. What it says to glibc is not overridden.
    init(processors: Int, environment: [String: String]) {
        guard environment["GLIBC_TUNABLES"]?.contains("glibc.malloc.") != true else { return }
        values = [
            .arenasMax: Int32(min(max(processors, 2), 16)),
            .mapThreshold: 1 << 20,
            .trimThreshold: 2 << 20,
        ]
        values = values.filter { environment[$0.key.variable] == nil }
    }

    /// Sets the limits, for threads that start later too.
    ///
    /// Call it before the process starts its threads.
    func apply() {
        // Swift's module of glibc does not have this function.
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let setParameter = unsafeBitCast(
            symbol,
            to: (@convention(c) (Int32, Int32) -> Int32).self
        )
        for (parameter, value) in values { _ = setParameter(parameter.rawValue, value) }
    }
}

import HTTPTypes
import Hummingbird
import Synchronization

/// The routes of a router, to tell a path that has no such method from one that there is not.
///
/// Filled once, when all routes are there.
final class RouteTable: Sendable {
    private struct Route: Sendable {
        let path: RouterPath
        let methods: [HTTPRequest.Method]
    }

    private let routes = Mutex<[Route]>([])

    /// Takes the routes over.
    func fill(_ described: [(path: RouterPath, method: HTTPRequest.Method)]) {
        var methods: [String: (path: RouterPath, methods: [HTTPRequest.Method])] = [:]
        for (path, method) in described {
            methods[path.description, default: (path, [])].methods.append(method)
        }
        let filled = methods.values.map { Route(path: $0.path, methods: $0.methods) }
        routes.withLock { $0 = filled }
    }

    /// The methods that a path answers, HEAD with every GET; none if there is no such path.
    ///
    /// Of several routes that a path fits, it is the one that the router takes: with the text itself
    /// rather than a parameter, from the left.
    func methods(of path: String) -> [String] {
        let parts = path.split(separator: "/")
        let fitting = routes.withLock { routes in
            routes.filter { Self.fits($0.path, parts) }
        }
        let route = fitting.min { one, other in
            one.path.map(Self.rank).lexicographicallyPrecedes(other.path.map(Self.rank))
        }
        var methods = Set((route?.methods ?? []).map(\.rawValue))
        if methods.contains("GET") { methods.insert("HEAD") }
        return methods.sorted()
    }

    private static func fits(_ path: RouterPath, _ parts: [Substring]) -> Bool {
        for (index, element) in path.enumerated() {
            if element == .recursiveWildcard { return parts.count > index }
            guard index < parts.count, element ~= parts[index] else { return false }
        }
        return path.count == parts.count
    }

    /// Lower the more exactly it names a part.
    private static func rank(_ element: RouterPath.Element) -> Int {
        if element == .recursiveWildcard { return 2 }
        return element.description.hasPrefix("{") || element == .wildcard ? 1 : 0
    }
}

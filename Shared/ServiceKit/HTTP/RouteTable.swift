import HTTPTypes
import Hummingbird
import Synchronization

/// The routes of a router, used to distinguish a path that lacks a method from a path that does not
/// exist.
///
/// It is filled once, after all routes have been added.
final class RouteTable: Sendable {
    private struct Route: Sendable {
        let path: RouterPath
        let methods: [HTTPRequest.Method]
    }

    private let routes = Mutex<[Route]>([])

    /// Fills the table with routes.
    func fill(_ described: [(path: RouterPath, method: HTTPRequest.Method)]) {
        var methods: [String: (path: RouterPath, methods: [HTTPRequest.Method])] = [:]
        for (path, method) in described {
            methods[path.description, default: (path, [])].methods.append(method)
        }
        let filled = methods.values.map { Route(path: $0.path, methods: $0.methods) }
        routes.withLock { $0 = filled }
    }

    /// The methods of a path, with HEAD for every GET; none if there is no such path.
    ///
    /// If several routes match a path, it is the one that the router chooses: from the left, a
    /// literal part wins over a parameter.
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

    /// The rank of a path element; a more specific element has a lower rank.
    private static func rank(_ element: RouterPath.Element) -> Int {
        if element == .recursiveWildcard { return 2 }
        return element.description.hasPrefix("{") || element == .wildcard ? 1 : 0
    }
}

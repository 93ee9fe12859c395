import Foundation

/// Finds the addresses of a name.
public protocol NameResolver: Sendable {
    /// Looks up a name, without a time limit.
    ///
    /// - Parameter name: The name of a host.
    /// - Returns: Its addresses as text, the best one first.
    /// - Throws: ``NameResolutionError``.
    func addresses(of name: String) async throws -> [String]
}

/// The reasons why a name has no address.
public enum NameResolutionError: Error, Hashable, CustomStringConvertible {
    /// The resolver reports that there is none, with a reason.
    case unknown(String)
    /// No name server answered in time.
    case timedOut

    /// A readable reason.
    public var description: String {
        switch self {
        case .unknown(let reason): "its name has no address (\(reason))"
        case .timedOut: "no name server answers for its name"
        }
    }
}

/// The resolver of the operating system.
///
/// `getaddrinfo` blocks until a name server has answered or the resolver gives up, which takes up
/// to half a minute. So each call has a thread of its own.
public struct SystemResolver: NameResolver {
    /// Creates a resolver, which has no state.
    public init() {}

    /// Looks up a name on a thread of its own.
    public func addresses(of name: String) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(with: Result { try Self.lookUp(name) })
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
    }

    private static func lookUp(_ name: String) throws -> [String] {
        var hints = addrinfo()
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &found)
        guard status == 0 else {
            throw NameResolutionError.unknown(String(cString: gai_strerror(status)))
        }
        defer { freeaddrinfo(found) }
        var addresses: [String] = []
        var next = found
        while let info = next?.pointee {
            var text = [CChar](repeating: 0, count: 128)
            let length = socklen_t(text.count)
            let isText =
                getnameinfo(info.ai_addr, info.ai_addrlen, &text, length, nil, 0, NI_NUMERICHOST)
            if isText == 0 {
                let address = String(
                    decoding: text.prefix { $0 != 0 }.map(UInt8.init),
                    as: UTF8.self
                )
                if !addresses.contains(address) { addresses.append(address) }
            }
            next = info.ai_next
        }
        return addresses
    }
}

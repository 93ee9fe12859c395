import Foundation

/// Finds the addresses of a name.
public protocol NameResolver: Sendable {
    /// Looks a name up, for as long as it takes.
    ///
    /// - Parameter name: A host's name.
    /// - Returns: Its addresses as text, the best one first.
    /// - Throws: ``NameResolutionError``.
    func addresses(of name: String) async throws -> [String]
}

/// Why a name has no address.
public enum NameResolutionError: Error, Hashable, CustomStringConvertible {
    /// The resolver says that there is none, and why.
    case unknown(String)
    /// No name server has answered in time.
    case timedOut

    /// The reason in words.
    public var description: String {
        switch self {
        case .unknown(let reason): "its name has no address (\(reason))"
        case .timedOut: "no name server answers for its name"
        }
    }
}

/// The system's own resolver.
///
/// `getaddrinfo` blocks until a name server has answered or was given up, which takes up to half a
/// minute, so each call has a thread of its own.
public struct SystemResolver: NameResolver {
    /// Makes a resolver; it holds nothing.
    public init() {}

    /// Looks a name up on a thread of its own.
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

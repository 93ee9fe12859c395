import Foundation

/// A TCP port of the loopback address.
struct LoopbackPort {
    let number: Int

    /// Whether a new socket can be bound to the port.
    ///
    /// - Throws: ``HarnessError`` if there is no socket.
    func canBind() throws -> Bool {
        guard let result = onSocket(bind) else { throw HarnessError("Cannot open a socket.") }
        return result == 0
    }

    /// Whether a connection to the port is accepted.
    func accepts() -> Bool { onSocket(connect) == 0 }

    /// Calls a function with a new socket and the port's address.
    ///
    /// - Returns: The function's result; `nil` if there is no socket.
    private func onSocket(
        _ call: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
    ) -> Int32? {
        let socket = Foundation.socket(
            AF_INET,
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
            0
        )
        guard socket >= 0 else { return nil }
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = in_port_t(number).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                call(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

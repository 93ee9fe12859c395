import Foundation

/// Whether a port of the loopback address accepts connections.
package func accepts(port: Int) -> Bool {
    let socket = Foundation.socket(
        AF_INET,
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
        0
    )
    guard socket >= 0 else { return false }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    address.sin_port = in_port_t(port).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

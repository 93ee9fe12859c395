import Foundation
import Synchronization

/// The ports that this process has handed out, so that no two tests get the same one.
private let given = Mutex<Set<Int>>([])

/// Returns a TCP port on the loopback address that is not in use.
///
/// It is below the range that the system uses for outgoing connections, so that none of them takes
/// it before the test does.
///
/// - Throws: ``HarnessError`` if there is none.
public func freePort() throws -> Int {
    for _ in 0..<1000 {
        let port = Int.random(in: 15_000..<32_000)
        if given.withLock({ $0.insert(port).inserted }), try canBind(port) { return port }
    }
    throw HarnessError("No port from 15000 to 31999 is free on 127.0.0.1.")
}

private func canBind(_ port: Int) throws -> Bool {
    let socket = Foundation.socket(
        AF_INET,
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
        0
    )
    guard socket >= 0 else { throw HarnessError("Cannot open a socket.") }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    address.sin_port = in_port_t(port).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            bind(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

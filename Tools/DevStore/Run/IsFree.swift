import Foundation

/// Tells whether a port of this machine is free.
///
/// - Parameter port: The port.
/// - Returns: Whether the port is free.
func isFree(port: Int) -> Bool {
    #if canImport(Darwin)
    let handle = socket(AF_INET, SOCK_STREAM, 0)
    #else
    let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard handle >= 0 else { return false }
    defer { close(handle) }
    var reuse: Int32 = 1
    setsockopt(
        handle,
        SOL_SOCKET,
        SO_REUSEADDR,
        &reuse,
        socklen_t(MemoryLayout<Int32>.size)
    )
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(handle, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

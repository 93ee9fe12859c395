import Foundation

/// A connection for which the test writes the bytes, and can stop in the middle.
public final class RawConnection: Sendable {
    private let descriptor: Int32

    /// Connects.
    ///
    /// - Throws: ``HarnessError`` if the port does not accept connections.
    public init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &limit,
            socklen_t(MemoryLayout<timeval>.size)
        )
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw HarnessError("The server cannot be reached.") }
    }

    /// Sends text.
    public func send(_ text: String) {
        let bytes = Array(text.utf8)
        // If the server has closed the connection, nothing is sent, and no signal ends the process.
        _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads until a text has arrived or the connection has ended.
    ///
    /// It runs on a thread that may block, because the server needs the threads of the tasks.
    ///
    /// - Parameter text: The expected text.
    /// - Returns: All text that has arrived.
    /// - Throws: ``HarnessError`` if nothing arrives for a minute, which is long even on a busy
    ///   machine.
    public func read(until text: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var read = ""
                var buffer = [UInt8](repeating: 0, count: 1 << 12)
                while !read.contains(text) {
                    let count = Foundation.read(descriptor, &buffer, buffer.count)
                    if count < 0, errno == EINTR { continue }
                    if count < 0, errno == EAGAIN {
                        continuation.resume(
                            throwing: HarnessError("Nothing came for a minute after: \(read)")
                        )
                        return
                    }
                    guard count > 0 else { break }
                    read += String(decoding: buffer.prefix(count), as: UTF8.self)
                }
                continuation.resume(returning: read)
            }
        }
    }

    deinit { close(descriptor) }
}

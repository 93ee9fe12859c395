import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// A session that the server ends while nobody asks it anything.
@Suite(.timeLimit(.minutes(10))) struct EndedSessionTests {
    @Test func itIsLostOnceTheServerSaysSoThoughItIsOpen() async throws {
        let server = try ReticentServer()
        defer { server.stop() }
        let connection = PostgresConnection(
            PostgresSettings(
                url:
                    "postgresql://tests@127.0.0.1:\(server.port)/tests?sslmode=disable&gssencmode=disable",
                applicationName: "tests"
            )
        )
        try await connection.open()
        #expect(await connection.checkIdle())
        #expect(connection.isQuiet)
        server.endSession()
        try await eventually("the server to say so") {
            connection.isQuiet ? nil : ()
        }
        try await eventually("the session to be lost") {
            await connection.checkIdle() ? nil : ()
        }
        #expect(await !connection.isUsable)
        await connection.close()
        #expect(!connection.isQuiet, "It has no socket any more.")
    }
}

/// A server that answers one client's statements without running them, and ends its session as
/// PostgreSQL does when it shuts down, but leaves the connection open.
private final class ReticentServer: Sendable {
    let port: Int
    private let listener: Int32
    private let client = Mutex<Int32?>(nil)

    init() throws {
        port = try freePort()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = in_port_t(port).bigEndian
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isListening && listen(listener, 1) == 0)
        Thread.detachNewThread { self.serve() }
    }

    /// Says that the session ends.
    func endSession() {
        send("E", "SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0")
    }

    /// Closes everything.
    func stop() {
        if let client = client.withLock({ $0 }) { shutdown(client, Int32(SHUT_RDWR)) }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private func serve() {
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else { return }
        client.withLock { $0 = socket }
        defer { close(socket) }
        // The first message has no type.
        guard read(4, from: socket).flatMap({ rest(after: $0, from: socket) }) != nil else {
            return
        }
        send("R", "\0\0\0\0")
        send("Z", "I")
        while let head = read(5, from: socket), rest(after: head.suffix(4), from: socket) != nil {
            send("C", "SET\0")
            send("Z", "I")
        }
    }

    /// Reads what is left of a message after its length.
    private func rest(after length: some Sequence<UInt8>, from socket: Int32) -> [UInt8]? {
        read(length.reduce(0) { $0 << 8 | Int($1) } - 4, from: socket)
    }

    private func read(_ count: Int, from socket: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        guard count == 0 || recv(socket, &bytes, count, Int32(MSG_WAITALL)) == count
        else { return nil }
        return bytes
    }

    private func send(_ type: Character, _ body: String) {
        guard let client = client.withLock({ $0 }) else { return }
        let length = UInt32(body.utf8.count + 4)
        let bytes =
            Array("\(type)".utf8) + withUnsafeBytes(of: length.bigEndian, Array.init)
            + Array(body.utf8)
        // The client may be gone. Then nothing is sent, and no signal ends the process of the tests.
        _ = Foundation.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}

import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// The cost of clients that are connected but idle.
    @Suite
    struct IdleClients {
        /// The limit for a debug build.
        ///
        /// `make clients` measures a release build with 5,000 clients.
        private static let bytesMax = 32 * 1024

        @Test func theStreamOfAnIdleClientCostsFewKilobytes() async throws {
            try await withStore { store in
                let fulfillment = store.process(.fulfillment)
                func residentBytes() throws -> Int {
                    try #require(fulfillment.usage).residentBytes
                }
                // Memory that the process allocates permanently for the first streams is not the
                // cost of a stream.
                var clients = try await connect(200, to: store)
                let before = try residentBytes()
                let count = 1000
                clients += try await connect(count, to: store)
                let bytes = (try residentBytes() - before) / count
                #expect(bytes < Self.bytesMax, "\(bytes) bytes a stream")
                withExtendedLifetime(clients) {}
            }
        }

        private func connect(_ count: Int, to store: StoreHarness) async throws -> [RawConnection] {
            var clients: [RawConnection] = []
            for _ in 0..<count {
                let client = try store.client(account: "idle-\(clients.count)")
                let connection = try RawConnection(port: store.process(.fulfillment).port)
                connection.send(
                    "GET \(Routes.queue) HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                        + "accept: text/event-stream\r\n"
                        + "authorization: Bearer \(client.token)\r\n\r\n"
                )
                let answer = try await connection.read(until: ":\n\n")
                #expect(answer.hasPrefix("HTTP/1.1 200"))
                clients.append(connection)
            }
            return clients
        }
    }
}

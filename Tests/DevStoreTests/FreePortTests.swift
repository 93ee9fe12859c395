import Foundation
import StoreHarness
import Testing

/// The ports that stores of several processes take at the same time.
@Suite struct FreePortTests {
    @Test func twoProcessesAreNeverGivenTheSamePort() throws {
        let directory = NSTemporaryDirectory() + "/counterfoil-ports-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        // A leftover does no harm.
        defer { try? FileManager.default.removeItem(atPath: directory) }
        // Each opens the files for itself, as two processes do, and they begin at the same block.
        var first = PortBlocks(directory: directory)
        var second = PortBlocks(directory: directory)
        var given: Set<Int> = []
        for _ in 0..<20 {
            for port in [try first.next(), try second.next()] {
                #expect(given.insert(port).inserted, "\(port) is given twice")
            }
        }
    }
}

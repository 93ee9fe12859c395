import Foundation
import Synchronization

/// Random bits of the kernel, drawn in blocks.
///
/// Asking the kernel for each id costs more than the rest of the id. The bits are as hard to guess
/// as before, but those of the next ids are already in this process's memory.
package struct RandomBlock: RandomNumberGenerator {
    /// The words in a block: 256 bytes are the most that `getentropy` gives.
    private static let count = 256 / MemoryLayout<UInt64>.size
    private static let shared = Mutex(Block())

    private struct Block {
        var words = [UInt64](repeating: 0, count: RandomBlock.count)
        var next = RandomBlock.count

        mutating func take() -> UInt64 {
            if next == words.count { fill() }
            defer {
                // A word is used once, and does not stay in memory.
                words[next] = 0
                next += 1
            }
            return words[next]
        }

        private mutating func fill() {
            let size = words.count * MemoryLayout<UInt64>.size
            let result = words.withUnsafeMutableBytes { getentropy($0.baseAddress, size) }
            precondition(result == 0, "The kernel gave no random bytes.")
            next = 0
        }
    }

    /// Makes a generator; all draw from one block.
    package init() {}

    /// The next 64 bits.
    package func next() -> UInt64 { Self.shared.withLock { $0.take() } }
}

import Foundation
import Synchronization

private let ports = Mutex(PortBlocks(directory: "/tmp"))

/// Returns a TCP port on the loopback address that is not in use and that no process of the harness has
/// been given.
///
/// It is below the range that the system uses for outgoing connections, so that none of them takes
/// it before the test does.
///
/// - Throws: ``HarnessError`` if there is none.
public func freePort() throws -> Int {
    try ports.withLock { try $0.next() }
}

/// The ports that a process hands out, each once.
///
/// A port is often bound only seconds after it was chosen, and stores of several processes start side by
/// side. Therefore a process takes ports from blocks that are its own: it locks a file for each block,
/// and the system releases the locks when the process ends.
package struct PortBlocks {
    private static let first = 15_000
    /// The number of ports in a block; a store takes about a dozen.
    private static let size = 500
    private static let count = 34

    private let directory: String
    /// The ports of the newest block that were not handed out yet.
    private var left = 0..<0

    /// Makes a process's ports.
    ///
    /// - Parameter directory: The directory of the locked files, which all processes share.
    package init(directory: String) {
        self.directory = directory
    }

    /// Returns the next port that can be bound.
    ///
    /// - Throws: ``HarnessError`` if there is none, or no socket.
    package mutating func next() throws -> Int {
        while true {
            while let port = left.popFirst() {
                if try LoopbackPort(number: port).canBind() { return port }
            }
            try takeBlock()
        }
    }

    private mutating func takeBlock() throws {
        // Begin at different blocks, so that a port is not used again at once by the next process.
        let begin = Int(getpid()) % Self.count
        for step in 0..<Self.count {
            let block = (begin + step) % Self.count
            guard locks("\(directory)/counterfoil-ports-\(block)") else { continue }
            let start = Self.first + block * Self.size
            left = start..<(start + Self.size)
            return
        }
        throw HarnessError("Other processes have taken all ports from 15000 to 31999.")
    }

    /// Locks a file that nobody else has locked, until the process ends.
    ///
    /// - Returns: Whether it is locked.
    private func locks(_ path: String) -> Bool {
        // The file may belong to another user, who may have it read, not written.
        var file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 { file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o644) }
        guard file >= 0 else { return false }
        // An open descriptor holds the lock, so it is not closed.
        if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
        close(file)
        return false
    }
}

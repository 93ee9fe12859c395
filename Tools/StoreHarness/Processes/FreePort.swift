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
        if given.withLock({ $0.insert(port).inserted }), try LoopbackPort(number: port).canBind() {
            return port
        }
    }
    throw HarnessError("No port from 15000 to 31999 is free on 127.0.0.1.")
}

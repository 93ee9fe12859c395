import Synchronization

/// Limits the work that `verifyReceipt`, which is open to everybody, causes at once on one
/// instance.
///
/// A body counts with the bytes that have arrived, so a slow one takes only what it has sent and
/// blocks nobody else. Large work, by the request or by the answer, needs one of a few permits,
/// which it holds only while it runs. A large answer that is read slowly takes space that only
/// other large answers need.
final class VerifyReceiptAdmission: Sendable {
    /// The limit for the bytes of bodies in memory: some twenty of the largest.
    static let bytesMax = 64 << 20
    /// The limit for the bytes of large answers that wait to be read: some ten of the largest.
    static let answerBytesMax = 64 << 20
    /// The limit for large requests that are processed at once.
    static let largeMax = 8

    private struct State {
        var bytes = 0
        var answerBytes = 0
        var large = 0
    }

    /// The space of a large answer, held until this value is released.
    final class Room: Sendable {
        private let admission: VerifyReceiptAdmission
        private let bytes: Int

        fileprivate init(_ admission: VerifyReceiptAdmission, bytes: Int) {
            self.admission = admission
            self.bytes = bytes
        }

        deinit { admission.state.withLock { $0.answerBytes -= bytes } }
    }

    private let state = Mutex(State())

    /// The number of bytes of bodies in memory.
    var bytes: Int { state.withLock { $0.bytes } }
    /// The number of bytes of large answers that wait to be read.
    var answerBytes: Int { state.withLock { $0.answerBytes } }

    /// Reserves space for bytes that have arrived.
    ///
    /// - Throws: ``VerifyReceiptStatus/unavailable`` if there is no space.
    func take(bytes count: Int) throws(VerifyReceiptStatus) {
        let isAdmitted = state.withLock { state in
            guard state.bytes + count <= Self.bytesMax else { return false }
            state.bytes += count
            return true
        }
        guard isAdmitted else { throw .unavailable }
    }

    /// Releases the space.
    func give(bytes count: Int) { state.withLock { $0.bytes -= count } }

    /// Reserves space for a large answer.
    ///
    /// - Throws: ``VerifyReceiptStatus/unavailable`` if there is no space.
    func room(forAnswer bytes: Int) throws(VerifyReceiptStatus) -> Room {
        let isAdmitted = state.withLock { state in
            guard state.answerBytes + bytes <= Self.answerBytesMax else { return false }
            state.answerBytes += bytes
            return true
        }
        guard isAdmitted else { throw .unavailable }
        return Room(self, bytes: bytes)
    }

    /// Runs large work if a permit is free.
    ///
    /// - Throws: ``VerifyReceiptStatus/unavailable`` if no permit is free, or any error of the work.
    func large<R>(_ work: () async throws -> R) async throws -> R {
        let isAdmitted = state.withLock { state in
            guard state.large < Self.largeMax else { return false }
            state.large += 1
            return true
        }
        guard isAdmitted else { throw VerifyReceiptStatus.unavailable }
        defer { state.withLock { $0.large -= 1 } }
        return try await work()
    }
}

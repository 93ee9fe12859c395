import Synchronization

/// How much of `verifyReceipt`, which is open to everybody, is in work at once on one instance.
///
/// Bodies are counted by the bytes that have come: one that comes slowly takes only what it has sent,
/// and keeps nobody from being answered. Work that is large, by the question or by the answer, has a
/// few places, each held only while it is done. A large answer that is read slowly takes room that only
/// large answers need.
final class VerifyReceiptAdmission: Sendable {
    /// What of bodies is in memory at once; some twenty of the largest.
    static let bytesMax = 64 << 20
    /// What of large answers waits to be read at once; some ten of the largest.
    static let answerBytesMax = 64 << 20
    /// How many large ones are worked on at once.
    static let largeMax = 8

    private struct State {
        var bytes = 0
        var answerBytes = 0
        var large = 0
    }

    /// The room that a large answer takes for as long as this is there.
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

    /// How many places of large ones are taken.
    var largeCount: Int { state.withLock { $0.large } }
    /// How many bytes of bodies are in memory.
    var bytes: Int { state.withLock { $0.bytes } }
    /// How many bytes of large answers wait to be read.
    var answerBytes: Int { state.withLock { $0.answerBytes } }

    /// Takes room for bytes that have come.
    ///
    /// - Throws: ``VerifyReceiptStatus/unavailable`` if there is none.
    func take(bytes count: Int) throws(VerifyReceiptStatus) {
        let isAdmitted = state.withLock { state in
            guard state.bytes + count <= Self.bytesMax else { return false }
            state.bytes += count
            return true
        }
        guard isAdmitted else { throw .unavailable }
    }

    /// Gives the room back.
    func give(bytes count: Int) { state.withLock { $0.bytes -= count } }

    /// Takes room for a large answer.
    ///
    /// - Throws: ``VerifyReceiptStatus/unavailable`` if there is none.
    func room(forAnswer bytes: Int) throws(VerifyReceiptStatus) -> Room {
        let isAdmitted = state.withLock { state in
            guard state.answerBytes + bytes <= Self.answerBytesMax else { return false }
            state.answerBytes += bytes
            return true
        }
        guard isAdmitted else { throw .unavailable }
        return Room(self, bytes: bytes)
    }

    /// Works on something large, if there is a place.
    ///
    /// - Throws: ``VerifyReceiptStatus/unavailable`` if there is none, and what the work throws.
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

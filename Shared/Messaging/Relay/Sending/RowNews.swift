import Synchronization

/// Knows whether rows may have been committed that the relay has not seen.
///
/// Every commit of rows is told twice: by the process that made it, and by PostgreSQL some time later. The
/// notification names the first part of the rows' place, so the second one causes no look in vain.
final class RowNews: Sendable {
    private let isNew = Atomic(true)
    /// The first part of the newest place that a look has found settled.
    private let seen = Atomic<UInt64>(0)

    /// Makes news, because the first look is not made yet.
    init() {}

    /// Whether a look is due.
    var isThere: Bool { isNew.load(ordering: .sequentiallyConsistent) }

    /// Notes that rows were committed, or may have been.
    func note() { isNew.store(true, ordering: .sequentiallyConsistent) }

    /// Notes that rows were committed whose place begins with a number.
    ///
    /// - Parameter xid: The number; `nil` if it is not known.
    /// - Returns: Whether that is news. It is not if a look has found settled rows up to there, because a
    ///   look finds all settled rows before its last one.
    func note(rowsAt xid: UInt64?) -> Bool {
        if let xid, xid <= seen.load(ordering: .sequentiallyConsistent) { return false }
        note()
        return true
    }

    /// Notes that a look begins, which finds everything that was committed before.
    func beginLook() { isNew.store(false, ordering: .sequentiallyConsistent) }

    /// Notes the place of the last row that a look has found settled.
    ///
    /// If there were more rows than it reads at a time, the relay looks again without news.
    func saw(rowsThrough xid: UInt64) {
        seen.max(xid, ordering: .sequentiallyConsistent)
    }
}

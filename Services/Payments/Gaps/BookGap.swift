import EventTypes

/// A time of which the books may lack what the processor did, because the database was restored from a
/// backup.
///
/// Nobody can tell a store that was restored from one that was switched off. So each silence is taken for
/// a gap, which costs a switched-off store some questions to the processor.
struct BookGap: Hashable, Sendable {
    /// The time of the backup, or an earlier one.
    var start: MachineTime
    /// The time at which the store worked again; `nil` if its clock may have shown any time before.
    var end: StoreTime?

    /// The time by which a change of the settings may have moved the first charge for a period.
    private static let margin = Duration.seconds(86_400)

    /// The earliest time at which a charge for a period may have been made that the gap hides.
    ///
    /// Gaps that follow each other are one, so it may begin long before the period was charged for the first
    /// time. Where the end is known, the store's clock shows the machines' time.
    ///
    /// - Parameter first: The earliest time at which the period may have been charged.
    /// - Returns: The time; `nil` if the gap hides no charge for the period.
    func beginning(ofChargesFrom first: StoreTime) -> MachineTime? {
        guard let end else { return start }
        guard first <= end else { return nil }
        let first = MachineTime(millisecondsSinceEpoch: first.millisecondsSinceEpoch)
        return max(start, first.advanced(by: .zero - Self.margin))
    }
}

/// The memory of when the store was last seen, by which a gap in its books is noticed.
///
/// Pure. It is in the database, so a restored database has that of its backup.
struct BookMemory: Hashable, Sendable {
    /// The longest silence of a store that is running.
    static let silenceMax = Duration.seconds(60)
    /// The time for which charges are looked for: longer than any period stays owed.
    static let reach = Duration.seconds(90 * 86_400)

    /// The newest time at which an instance was seen.
    private(set) var seenAt: MachineTime
    /// The last gap.
    private(set) var gap: BookGap?

    /// Makes a memory.
    init(seenAt: MachineTime, gap: BookGap? = nil) {
        self.seenAt = seenAt
        self.gap = gap
    }

    /// Whether nobody was seen for so long that the database may have been restored.
    func isSilent(at time: MachineTime) -> Bool {
        time.duration(since: seenAt) > Self.silenceMax
    }

    /// The last gap, with a silence that nobody has noted yet.
    ///
    /// Gaps that follow each other are one, because a period of an earlier one may still be owed.
    ///
    /// - Parameters:
    ///   - time: The machines' time.
    ///   - storeTime: The store's time.
    /// - Returns: The gap; `nil` if the books have none.
    func presentGap(at time: MachineTime, _ storeTime: StoreTime) -> BookGap? {
        guard isSilent(at: time) else { return gap }
        let start = gap.map { min($0.start, seenAt) } ?? seenAt
        return BookGap(start: max(start, time.advanced(by: .zero - Self.reach)), end: storeTime)
    }

    /// Notes that the store is seen.
    ///
    /// Another instance may have noted a time that is a little later. A time that is much later is of a clock
    /// that was ahead. It would hide all silences until then, so it does not count.
    ///
    /// - Parameters: As of ``presentGap(at:_:)``.
    /// - Returns: The gap that ends now; `nil` if none does.
    mutating func note(_ time: MachineTime, _ storeTime: StoreTime) -> BookGap? {
        let isNew = isSilent(at: time)
        gap = presentGap(at: time, storeTime)
        let isAhead = seenAt.duration(since: time) > Self.silenceMax
        seenAt = isAhead ? time : max(seenAt, time)
        return isNew ? gap : nil
    }
}

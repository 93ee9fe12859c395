/// How far a download is.
struct DownloadProgress: Hashable, Sendable {
    /// How many bytes are there.
    ///
    /// From report to report of one run it never falls.
    var bytesWritten: Int64
    /// How many there will be.
    var bytesExpected: Int64
    /// How long the rest takes at the rate of the last seconds; `nil` while no rate is known.
    var timeRemaining: Duration?
}

/// The rate of a transfer, over a window that moves with it.
///
/// Pure: the time comes in as an argument, counted from any start.
struct TransferRate: Hashable, Sendable {
    private struct Sample: Hashable, Sendable {
        var time: Duration
        var total: Int64
    }

    /// How much of the past counts.
    let window: Duration
    /// How far apart samples are, so that their number has a bound.
    private let interval: Duration
    private var samples: [Sample] = []
    private var last: Sample?

    /// Makes a rate of nothing yet.
    init(window: Duration = .seconds(10)) {
        self.window = window
        interval = window / 50
    }

    /// Takes note of how many bytes there are in all at a time.
    mutating func record(_ total: Int64, at time: Duration) {
        let sample = Sample(time: time, total: total)
        last = sample
        if let previous = samples.last, time - previous.time < interval { return }
        samples.append(sample)
        // The one just before the window stays, so that the window is always whole.
        while samples.count > 2, time - samples[1].time >= window { samples.removeFirst() }
    }

    /// The bytes of a second; `nil` before there are two times to compare.
    var bytesPerSecond: Double? {
        guard let first = samples.first, let last, last.time > first.time,
            last.total > first.total
        else { return nil }
        return Double(last.total - first.total) / ((last.time - first.time) / .seconds(1))
    }

    /// How long a number of bytes takes at this rate; `nil` if it is not known.
    func time(for count: Int64) -> Duration? {
        guard count > 0 else { return .zero }
        return bytesPerSecond.map { .milliseconds(Int64((Double(count) / $0 * 1000).rounded(.up))) }
    }
}

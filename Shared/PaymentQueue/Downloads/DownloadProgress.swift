/// The progress of a download.
struct DownloadProgress: Hashable, Sendable {
    /// The number of bytes downloaded.
    ///
    /// It never decreases from report to report of one run.
    var bytesWritten: Int64
    /// The number of bytes of the whole content.
    var bytesExpected: Int64
    /// The remaining time at the rate of the last seconds; `nil` while no rate is known.
    var timeRemaining: Duration?
}

/// The rate of a transfer, measured over a sliding window.
///
/// It is pure: the time is an argument, counted from any starting point.
struct TransferRate: Hashable, Sendable {
    private struct Sample: Hashable, Sendable {
        var time: Duration
        var total: Int64
    }

    /// The length of the window.
    let window: Duration
    /// The distance between samples.
    ///
    /// It limits their number.
    private let interval: Duration
    private var samples: [Sample] = []
    private var last: Sample?

    /// Makes a rate without samples.
    init(window: Duration = .seconds(10)) {
        self.window = window
        interval = window / 50
    }

    /// Records the total number of bytes at a point in time.
    mutating func record(_ total: Int64, at time: Duration) {
        let sample = Sample(time: time, total: total)
        last = sample
        if let previous = samples.last, time - previous.time < interval { return }
        samples.append(sample)
        // Keep the last sample before the window, so that the samples always cover the whole
        // window.
        while samples.count > 2, time - samples[1].time >= window { samples.removeFirst() }
    }

    /// The number of bytes per second; `nil` until there are two samples.
    var bytesPerSecond: Double? {
        guard let first = samples.first, let last, last.time > first.time,
            last.total > first.total
        else { return nil }
        return Double(last.total - first.total) / ((last.time - first.time) / .seconds(1))
    }

    /// The time that a number of bytes takes at this rate; `nil` if the rate is not known.
    func time(for count: Int64) -> Duration? {
        guard count > 0 else { return .zero }
        return bytesPerSecond.map { .milliseconds(Int64((Double(count) / $0 * 1000).rounded(.up))) }
    }
}

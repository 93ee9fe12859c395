import ClockAndIDs
import EventTypes
import OperatorCore
import Seals

/// Takes samples of the store.
///
/// However many pages are open, the services and databases are asked as if it were one.
actor NowSampler {
    private let status: StatusReader
    private let lag: LagReader
    private let stories: StoryReader
    private let events: EventCountReader
    private let hopReader: HopReader
    private var rates = NowRates()
    private var line = NowLine()
    private var hops = NowHops()
    private var place: LogPlace?
    private let newest = NewestSample(now: { .now() })

    init(
        status: StatusReader,
        lag: LagReader,
        stories: StoryReader,
        events: EventCountReader,
        hops hopReader: HopReader
    ) {
        self.status = status
        self.lag = lag
        self.stories = stories
        self.events = events
        self.hopReader = hopReader
    }

    /// The newest sample; if it is too old, a new one.
    func sample() async -> NowSample { await newest.sample { await self.take() } }

    private func take() async -> NowSample {
        let dueReader = hops.isDue(at: .now()) ? hopReader : nil
        async let sample = Self.take(status, lag, stories)
        async let counts = Self.counts(dueReader)
        do {
            let found = try await events.count(after: place)
            let now = MachineTime.now()
            rates.add(found, at: now)
            line.add(found, at: now)
            place = found.place
        } catch {
            // The sample says which database is away. Rates and line begin anew when it is back.
            rates = NowRates()
            line = NowLine()
            place = nil
        }
        if let counts = await counts { hops.add(counts, at: .now()) }
        var taken = await sample
        taken.rates = rates
        taken.line = line
        taken.hops = hops
        return taken
    }

    private static func counts(
        _ reader: HopReader?
    ) async -> [OperatedService: HopCounts]? {
        await reader?.counts()
    }

    private static func take(
        _ status: StatusReader,
        _ lag: LagReader,
        _ stories: StoryReader
    ) async -> NowSample {
        async let report = status.answer().report
        var problem: String?
        var consumers: LagReport?
        var storeTime: StoreTime?
        do {
            let now = try await stories.storeTime()
            storeTime = now
            consumers = try await lag.report(at: now)
        } catch {
            problem = PlainWords.firstLine((error as? OperatorError)?.description ?? "\(error)")
        }
        return NowSample(
            takenAt: .now(),
            storeTime: storeTime,
            report: await report,
            lag: consumers,
            lagProblem: problem
        )
    }
}

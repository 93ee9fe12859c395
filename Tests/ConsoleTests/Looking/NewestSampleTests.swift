import EventTypes
import Synchronization
import Testing

@testable import Console
@testable import OperatorCore

@Suite(.timeLimit(.minutes(10)))
struct NewestSampleTests {
    /// A clock that is turned by hand, and the number of samples that were taken.
    private final class Desk: Sendable {
        let milliseconds = Mutex<Int64>(1_795_237_200_000)
        let taken = Mutex(0)

        var now: MachineTime {
            MachineTime(millisecondsSinceEpoch: milliseconds.withLock { $0 })
        }

        func sample() -> NowSample {
            taken.withLock { $0 += 1 }
            return NowSample(
                takenAt: now,
                storeTime: nil,
                report: StatusReport(services: []),
                lag: nil,
                lagProblem: nil
            )
        }
    }

    @Test func howeverManyPagesAreOpenTheStoreIsAskedOnceInTwoSeconds() async {
        let desk = Desk()
        let newest = NewestSample(now: { desk.now })
        for seconds in 0..<10 {
            await withTaskGroup { pages in
                for _ in 0..<50 {
                    pages.addTask { _ = await newest.sample { desk.sample() } }
                }
            }
            #expect(desk.taken.withLock { $0 } == seconds / 2 + 1)
            desk.milliseconds.withLock { $0 += 1000 }
        }
    }

    @Test func pagesThatAskMeanwhileGetTheSampleThatIsBeingTaken() async {
        let desk = Desk()
        let newest = NewestSample(now: { desk.now })
        let (turn, goOn) = AsyncStream<Void>.makeStream()
        let first = Task {
            await newest.sample {
                for await _ in turn { break }
                return desk.sample()
            }
        }
        let others = (0..<50).map { _ in Task { await newest.sample { desk.sample() } } }
        goOn.yield()
        _ = await first.value
        for other in others { _ = await other.value }
        #expect(desk.taken.withLock { $0 } == 1)
    }
}

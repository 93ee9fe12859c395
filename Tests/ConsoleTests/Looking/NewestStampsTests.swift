import EventTypes
import Synchronization
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(10)))
struct NewestStampsTests {
    /// A clock that is turned by hand, and the number of times that a story was read.
    private final class Desk: Sendable {
        let milliseconds = Mutex<Int64>(1_795_237_200_000)
        let reads = Mutex(0)

        var now: MachineTime {
            MachineTime(millisecondsSinceEpoch: milliseconds.withLock { $0 })
        }

        func stamps() -> NewestStamps { NewestStamps(now: { self.now }) }

        func wait(_ time: Int64) { milliseconds.withLock { $0 += time } }

        func read() -> String {
            reads.withLock { reads in
                reads += 1
                return "\(reads)"
            }
        }
    }

    private static let id = TransactionID(number: 1_000_001)

    @Test func howeverManyPagesShowAPurchaseItIsReadOnceASecond() async throws {
        let desk = Desk()
        let stamps = desk.stamps()
        for second in 0..<4 {
            try await withThrowingTaskGroup(of: String.self) { pages in
                for _ in 0..<50 {
                    pages.addTask { try await stamps.stamp(of: Self.id) { desk.read() } }
                }
                for try await stamp in pages { #expect(stamp == "\(second + 1)") }
            }
            desk.wait(1000)
        }
        #expect(desk.reads.withLock { $0 } == 4)
    }

    @Test func pagesThatAskMeanwhileShareOneReading() async throws {
        let desk = Desk()
        let stamps = desk.stamps()
        let (turn, goOn) = AsyncStream<Void>.makeStream()
        let pages = (0..<50).map { _ in
            Task {
                try await stamps.stamp(of: Self.id) {
                    for await _ in turn { break }
                    return desk.read()
                }
            }
        }
        goOn.yield()
        for page in pages {
            let stamp = try await page.value
            #expect(stamp == "1")
        }
        #expect(desk.reads.withLock { $0 } == 1)
    }

    @Test func eachPurchaseHasAStampOfItsOwn() async throws {
        let desk = Desk()
        let stamps = desk.stamps()
        for number in Int64(1)...3 {
            let id = TransactionID(number: number)
            let stamp = try await stamps.stamp(of: id) { desk.read() }
            #expect(stamp == "\(number)")
        }
    }

    @Test func aSlowReadingDropsNoStampThatIsNewer() async throws {
        let desk = Desk()
        let stamps = desk.stamps()
        let (begun, didBegin) = AsyncStream<Void>.makeStream()
        let (turn, goOn) = AsyncStream<Void>.makeStream()
        let slow = Task {
            try await stamps.stamp(of: TransactionID(number: 2)) {
                didBegin.yield()
                for await _ in turn { break }
                return "slow"
            }
        }
        for await _ in begun { break }
        desk.wait(100)
        _ = try await stamps.stamp(of: Self.id) { desk.read() }
        goOn.yield()
        let last = try await slow.value
        #expect(last == "slow")
        let stamp = try await stamps.stamp(of: Self.id) { desk.read() }
        #expect(stamp == "1", "it is read once a second")
    }

    @Test func aFailureIsSharedAndThenForgotten() async throws {
        struct Away: Error {}
        let desk = Desk()
        let stamps = desk.stamps()
        for _ in 0..<50 {
            await #expect(throws: Away.self) {
                try await stamps.stamp(of: Self.id) {
                    _ = desk.read()
                    throw Away()
                }
            }
        }
        #expect(desk.reads.withLock { $0 } == 1)
        desk.wait(1000)
        let stamp = try await stamps.stamp(of: Self.id) { desk.read() }
        #expect(stamp == "2")
    }

    @Test func aClockThatIsSetBackKeepsNoStamp() async throws {
        let desk = Desk()
        let stamps = desk.stamps()
        _ = try await stamps.stamp(of: Self.id) { desk.read() }
        desk.wait(-3_600_000)
        let stamp = try await stamps.stamp(of: Self.id) { desk.read() }
        #expect(stamp == "2")
    }

    @Test func stampsOfPagesThatAreClosedAreNotKept() async throws {
        let desk = Desk()
        let stamps = desk.stamps()
        for number in 1...Int64(NewestStamps.countMax + 10) {
            _ = try await stamps.stamp(of: TransactionID(number: number)) { desk.read() }
        }
        let full = await stamps.count
        #expect(full == NewestStamps.countMax)
        desk.wait(1000)
        _ = try await stamps.stamp(of: Self.id) { desk.read() }
        let left = await stamps.count
        #expect(left == 1)
    }
}

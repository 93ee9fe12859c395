import Seals
import Testing

@testable import Messaging

@Suite(.timeLimit(.minutes(10)))
struct RelayWatchTests {
    private struct Failure: Error {}

    private static func progress(_ number: UInt64) -> RelayProgress {
        RelayProgress(
            published: LogPlace(xid: number, position: 1),
            confirmed: .start,
            epoch: 1,
            lastOffsets: [:]
        )
    }

    @Test func aLookThatTakesLongHoldsNothingUp() async throws {
        let (looks, begun) = AsyncStream.makeStream(of: UInt64.self)
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        let looked = Signal()
        let watch = RelayWatch(
            didLook: { looked.send() },
            look: { progress in
                begun.yield(progress.published.xid)
                for await _ in releases { break }
                return RelayWatch.Sight(progress: progress, isLost: false)
            }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await watch.run() }
            var seen = looks.makeAsyncIterator()
            watch.ask(about: Self.progress(1))
            let first = await seen.next()
            #expect(first == 1)
            #expect(try watch.take() == nil)
            // Of what is asked meanwhile only the last question counts.
            watch.ask(about: Self.progress(2))
            watch.ask(about: Self.progress(3))
            release.yield()
            try await looked.wait(atMost: .seconds(60))
            #expect(try watch.take()?.progress == Self.progress(1))
            let second = await seen.next()
            #expect(second == 3)
            release.yield()
            try await looked.wait(atMost: .seconds(60))
            #expect(try watch.take()?.progress == Self.progress(3))
            #expect(try watch.take() == nil)
            group.cancelAll()
        }
    }

    @Test func anErrorOfALookIsThrownOnce() async throws {
        let looked = Signal()
        let watch = RelayWatch(didLook: { looked.send() }, look: { _ in throw Failure() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await watch.run() }
            watch.ask(about: Self.progress(1))
            try await looked.wait(atMost: .seconds(60))
            #expect(throws: Failure.self) { try watch.take() }
            #expect(try watch.take() == nil)
            group.cancelAll()
        }
    }
}

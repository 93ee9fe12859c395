import EventTypes
import Postgres
import Stripe
import TestSupport
import Testing

@testable import Payments

/// The parts in which one of Stripe's lists is read.
@Suite(.timeLimit(.minutes(10))) struct StripeListReaderTests {
    private struct BrokenOff: Error {}

    private static let hour = Duration.seconds(3600)
    private static let start = startTime.onMachines

    /// A time after the store's first sale, in hours.
    private func hours(_ count: Int) -> MachineTime {
        Self.start.advanced(by: Self.hour * count)
    }

    /// The parts that a look at the list reads until it breaks off, if it does.
    private func parts(
        _ store: Store,
        of account: ProcessorAccountName = .default,
        breakingOffAfter count: Int? = nil
    ) async throws -> [StripeListRequest] {
        let reader = StripeListReader(
            client: store.client,
            now: store.clock.machineNow,
            list: .movements,
            account: account,
            overlap: Self.hour,
            window: Self.hour * 24
        )
        var parts: [StripeListRequest] = []
        do {
            try await reader.read(
                pause: .seconds(600),
                beginningAt: { _, _ in Self.start },
                storePage: { request in
                    if parts.count == count { throw BrokenOff() }
                    parts.append(request)
                    return nil
                }
            )
        } catch is BrokenOff {}
        return parts
    }

    @Test func aLongListIsReadInPartsOfADayAndLaterFromAnHourBefore() async throws {
        try await withStore { store in
            store.clock.advance(by: Self.hour * 60)
            let first = try await parts(store)
            #expect(
                first == [
                    StripeListRequest(from: hours(-1), until: hours(23)),
                    StripeListRequest(from: hours(23), until: hours(47)),
                    StripeListRequest(from: hours(47)),
                ]
            )
            let tooEarly = try await parts(store)
            #expect(tooEarly == [], "it is not due")
            store.clock.advance(by: .seconds(600))
            let second = try await parts(store)
            #expect(second == [StripeListRequest(from: hours(59))])
        }
    }

    @Test func eachAccountHasAPlaceOfItsOwn() async throws {
        try await withStore { store in
            store.clock.advance(by: Self.hour * 12)
            let first = try await parts(store)
            #expect(first == [StripeListRequest(from: hours(-1))])
            // The other list is not read yet, however far the first one is.
            let games = ProcessorAccountName(rawValue: "games")
            let other = try await parts(store, of: games)
            #expect(other == [StripeListRequest(from: hours(-1))])
            let tooEarly = try await parts(store)
            #expect(tooEarly == [], "it is not due")
            let used = try await store.client.withConnection { connection in
                try StripeListStore.movements.accounts(on: connection)
            }
            #expect(used.sorted() == [.default, games])
        }
    }

    @Test func aListThatBreaksOffGoesOnAfterItsLastWholePart() async throws {
        try await withStore { store in
            store.clock.advance(by: Self.hour * 60)
            let broken = try await parts(store, breakingOffAfter: 1)
            #expect(broken == [StripeListRequest(from: hours(-1), until: hours(23))])
            // Whoever had the list is dead, and its lease ends.
            store.clock.advance(by: .seconds(61))
            let rest = try await parts(store)
            #expect(
                rest == [
                    StripeListRequest(from: hours(22), until: hours(46)),
                    StripeListRequest(from: hours(46)),
                ]
            )
        }
    }
}

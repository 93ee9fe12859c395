import EventTypes
import NIOHTTP1
import StoreAPI
import TestSupport

extension StoreHarness {
    /// The store's clock, as `payments` shows it.
    func readClock() async throws -> ClockResponse {
        try await administrator.raw(.GET, urls.payments + Routes.adminClock)
            .decode(ClockResponse.self)
    }

    /// Carries out a command to the clock that needs nothing else.
    func setClock(_ path: String, _ body: String = "{}") async throws -> ClockResponse {
        let answer = try await administrator.raw(
            .POST,
            urls.payments + path,
            body: Array(body.utf8)
        )
        return try answer.decode(ClockResponse.self)
    }

    /// Advances the clock, and waits until it is there.
    func advanceClock(_ span: String, from start: StoreTime) async throws -> StoreTime {
        // Until receipts has said until when it signs, payments asks to try again.
        let begun = try await eventually("the advance to begin") {
            let answer = try await administrator.raw(
                .POST,
                urls.payments + Routes.adminClockAdvance,
                body: Array(#"{"by":"\#(span)"}"#.utf8),
                key: "advance-\(span)-\(start.millisecondsSinceEpoch)"
            )
            return answer.status == 503 ? nil : try answer.decode(ClockResponse.self)
        }
        let target = begun.target ?? begun.now
        return try await eventually("the advance to end") {
            let clock = try await readClock()
            return clock.status == .ready && clock.now >= target ? clock.now : nil
        }
    }

    /// Waits until an advance has begun: by itself the clock does not go on by a day.
    ///
    /// On a busy machine the advance may have ended by then.
    func untilAdvanced(pastADayAfter start: StoreTime) async throws {
        try await eventually("the advance to begin") {
            try await readClock().now >= start.advanced(by: .seconds(86_400)) ? true : nil
        }
    }

    /// The clock as a service follows it.
    func followedClock(_ url: String) async throws -> FollowedClockResponse {
        try await administrator.raw(.GET, url + FollowedClockResponse.path)
            .decode(FollowedClockResponse.self)
    }
}

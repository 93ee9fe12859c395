import Foundation
import Testing
import TestSupport

extension EndToEnd {
    /// A small `make bench`.
    ///
    /// The values do not matter. The test checks that all are present, and that the ceiling does
    /// the work of a purchase.
    @Suite(.serialized)
    struct Bench {
        private struct Result: Decodable {
            let purchases_per_second: Double
            let yardstick_purchases_per_second: Double
            let http_to_yardstick: Double
            let drained_to_yardstick: Double
            let ratio_to_ceiling: Double
            let ratio_over_http: Double
            let p99_ratio_to_broker: Double
            let delivered_p50_ratio_to_broker: Double
            let growth_ratio: Double
            let idle_percent: Double
            let events_per_purchase: Double
            let kept_bytes_per_purchase: Double
            let rows_per_purchase: Double
            let ceiling_rows_per_purchase: Double
            let renewals_per_second: Double
            let renewed_to_drained: Double
            let renewal_year_seconds: Double
            let renewal_idle_lookups_per_second: Double
            let offer_cost_ratio: Double
            let code_cost_ratio: Double
            let raised_subscriptions: Int
            let raise_seconds: Double
            let raise_longest_transaction_seconds: Double
            let renewals_beside_raise_ratio: Double
            let is_clean: Bool
        }

        @Test func lastLineHasTheFiguresAndTheCeilingWritesWhatAPurchaseWrites() async throws {
            // The exit code is 1 if the audit finds a violation, or if the ceiling omits a table.
            let output = try await ChildProcess.run(
                try BuiltExecutables.path("devstore"),
                [
                    "bench", "--purchases", "600", "--accounts", "32", "--in-flight", "256",
                    "--connections", "16", "--open-seconds", "2", "--idle-seconds", "1",
                    "--yardstick-purchases", "2000", "--growth", "1000,3000",
                    "--growth-purchases", "300", "--subscriptions", "200",
                    "--offers", "50", "--raise", "300",
                ],
                environment: ProcessInfo.processInfo.environment
            )
            let line = try #require(output.split(separator: "\n").last)
            let result = try JSONDecoder().decode(Result.self, from: Data(line.utf8))
            #expect(result.purchases_per_second > 0)
            #expect(result.yardstick_purchases_per_second > 0)
            #expect(result.http_to_yardstick > 0 && result.drained_to_yardstick > 0)
            #expect(result.ratio_over_http > 0)
            #expect(result.ratio_to_ceiling > 0)
            #expect(result.p99_ratio_to_broker > 0)
            #expect(result.growth_ratio > 0)
            #expect(result.delivered_p50_ratio_to_broker > 0)
            #expect(result.idle_percent > 0 && result.idle_percent < 200)
            #expect(result.events_per_purchase >= 3)
            #expect(result.kept_bytes_per_purchase > 1000)
            #expect(result.rows_per_purchase > 10)
            #expect(result.ceiling_rows_per_purchase > 10)
            #expect(result.renewals_per_second > 0 && result.renewed_to_drained > 0)
            #expect(result.renewal_year_seconds > 0)
            // One look-up a second, and those of the metrics each minute.
            #expect(result.renewal_idle_lookups_per_second < 3)
            #expect(result.offer_cost_ratio > 0 && result.code_cost_ratio > 0)
            #expect(result.raised_subscriptions == 600 && result.raise_seconds > 0)
            #expect(result.raise_longest_transaction_seconds > 0)
            #expect(result.renewals_beside_raise_ratio > 0)
            #expect(result.is_clean)
        }
    }
}

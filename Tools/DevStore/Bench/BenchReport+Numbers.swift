import Foundation
import StoreHarness

extension BenchReport {
    /// All numbers, by their names in the record.
    ///
    /// `deploy/benchmarks/README.md` explains each name.
    var numbers: [String: Any] {
        var numbers = rates
        numbers.merge(latencies) { $1 }
        numbers.merge(costs) { $1 }
        numbers.merge(renewals) { $1 }
        numbers.merge(offerCosts) { $1 }
        numbers.merge(raises) { $1 }
        numbers["lost"] = audit.lost
        numbers["doubled"] = audit.doubled
        numbers["is_clean"] = audit.isClean
        numbers["goals"] = BenchGoals.goals(of: self).map { goal in
            [
                "name": goal.name, "measured": Self.rounded(goal.measured), "limit": goal.limit,
                "is_floor": goal.isFloor, "is_met": goal.isMet,
            ] as [String: Any]
        }
        return numbers
    }

    private var rates: [String: Any] {
        [
            "purchases": closed.purchases, "seconds": Self.rounded(closed.seconds),
            "purchases_per_second": Self.rounded(closed.rate),
            "backlog": drained.purchases,
            "drained_purchases_per_second": Self.rounded(drained.rate),
            "yardstick_purchases_per_second": Self.rounded(yardstick.rate),
            "yardstick_purchases_per_second_before": Self.rounded(yardstick.before),
            "yardstick_purchases_per_second_after": Self.rounded(yardstick.after),
            "http_to_yardstick": Self.rounded(httpToYardstick),
            "drained_to_yardstick": Self.rounded(drainedToYardstick),
            "ceiling_purchases_per_second": Self.rounded(ceiling),
            "ratio_over_http": Self.rounded(ratioOverHTTP),
            "drain_ceiling_purchases_per_second": Self.rounded(drainCeiling),
            "ratio_to_ceiling": Self.rounded(ratioToCeiling),
            "batches": Self.numbers(of: sizes.http),
            "drain_batches": Self.numbers(of: sizes.drain),
        ]
    }

    private var renewals: [String: Any] {
        guard let subscriptions, let ratio = renewedToDrained else { return [:] }
        let (alone, count) = (subscriptions.alone, subscriptions.count)
        let ratios = subscriptions.latencyRatios
        let (first, later) = subscriptions.latencyBesideByTime
        var processes: [String: Double] = [:]
        for cost in alone.costsOfStore {
            processes[cost.name] = Self.rounded(cost.microseconds(perEachOf: count))
        }
        return [
            "subscriptions": subscriptions.count,
            "renewals_per_second": Self.rounded(subscriptions.rate),
            "renewals_charged_seconds": Self.rounded(subscriptions.alone.charged),
            "renewals_delivered_seconds": Self.rounded(subscriptions.alone.delivered),
            "renewals_beside_buyers_seconds": Self.rounded(subscriptions.besideBuyers.delivered),
            "renewed_to_drained": Self.rounded(ratio),
            "cpu_microseconds_per_renewal": Self.rounded(alone.microseconds(perEachOf: count)),
            "renewal_processes": processes,
            "renewal_busy_cores": Self.rounded(alone.busyCores),
            "wal_bytes_per_renewal": Self.rounded(Double(alone.walBytes) / Double(count)),
            "wal_full_pages_per_renewal": Self.rounded(
                Double(alone.walFullPages) / Double(count)
            ),
            "renewal_year_seconds": Self.rounded(subscriptions.year),
            "idle_subscriptions": subscriptions.idle.count,
            "renewal_idle_lookups_per_second": Self.rounded(subscriptions.idle.lookUps),
            "renewal_idle_rows_per_second": Self.rounded(subscriptions.idle.rowsRead),
            "renewal_idle_percent": Self.rounded(subscriptions.idle.percent),
            "renewal_memory_mb_before": subscriptions.memory.before >> 20,
            "renewal_memory_mb": subscriptions.memory.max >> 20,
            "latency_p50_ratio_beside_renewals": Self.rounded(ratios.p50),
            "latency_p99_ratio_beside_renewals": Self.rounded(ratios.p99),
            "latency_without_renewals_ms": Self.numbers(of: subscriptions.without.latencies),
            "latency_beside_renewals_ms": Self.numbers(of: subscriptions.beside.latencies),
            "first_seconds_beside_renewals_ms": Self.numbers(of: first),
            "later_beside_renewals_ms": Self.numbers(of: later),
            "stages_without_renewals_ms": Self.numbers(of: subscriptions.without.stages),
            "stages_beside_renewals_ms": Self.numbers(of: subscriptions.beside.stages),
        ]
    }

    private var offerCosts: [String: Any] {
        guard let offers else { return [:] }
        return [
            "offers": offers.ordinary.purchases,
            "offer_cost_ratio": Self.rounded(offers.costRatio(of: offers.promotional)),
            "offer_rate_ratio": Self.rounded(offers.rateRatio(of: offers.promotional)),
            "code_cost_ratio": Self.rounded(offers.costRatio(of: offers.code)),
            "code_rate_ratio": Self.rounded(offers.rateRatio(of: offers.code)),
            "subscription_purchases_per_second": Self.rounded(offers.ordinary.rate),
            "cpu_microseconds_per_subscription_purchase": Self.rounded(offers.ordinary.cost),
        ]
    }

    private var raises: [String: Any] {
        guard let raise else { return [:] }
        return [
            "raised_subscriptions": raise.told,
            "raise_seconds": Self.rounded(raise.seconds),
            "raised_per_second": Self.rounded(raise.rate),
            "raise_longest_transaction_seconds": Self.rounded(raise.longestTransaction),
            "renewals_beside_raise": raise.renewed,
            "renewals_beside_raise_ratio": Self.rounded(raise.ratio),
        ]
    }

    private var latencies: [String: Any] {
        [
            "latency_ms": Self.numbers(of: closed.latencies),
            "open_loop_purchases_per_second": openRate,
            "open_loop_latency_ms": Self.numbers(of: open.latencies),
            "open_loop_stages_ms": Self.numbers(of: open.stages),
            "broker_ping_pong_ms": Self.numbers(of: ping.pingPong),
            "commit_ms": Self.numbers(of: ping.commit),
            "p99_ratio_to_broker": Self.rounded(ratioToBroker),
            "delivered_p50_ratio_to_broker": Self.rounded(deliveredRatios.p50),
            "delivered_p99_ratio_to_broker": Self.rounded(deliveredRatios.p99),
        ]
    }

    private var costs: [String: Any] {
        let (rows, bytes) = comparison.totals
        var costs: [String: Any] = [
            "cpu_microseconds_per_purchase": Self.rounded(closed.cost),
            "events_per_purchase": Self.rounded(events),
            "place_rows_per_purchase": Self.rounded(placeRows),
            "rows_per_purchase": Self.rounded(rows.run),
            "ceiling_rows_per_purchase": Self.rounded(rows.ceiling),
            "wal_bytes_per_purchase": Self.rounded(bytes.run),
            "ceiling_wal_bytes_per_purchase": Self.rounded(bytes.ceiling),
            "kept_bytes_per_purchase": Self.rounded(keptBytes),
            "sandbox_kept_bytes_per_purchase": Self.rounded(sandboxKeptBytes),
            "service_memory_mb_max": Double(memoryMax >> 20),
            "service_memory_mb": Dictionary(
                uniqueKeysWithValues: memory.map { service, largest, afterLoad in
                    (service, ["max": largest >> 20, "after_load": afterLoad >> 20])
                }
            ),
            "growth": growth.map { step in
                [
                    "purchases_held": Double(step.size),
                    "purchases_per_second": Self.rounded(step.result.rate),
                    "cpu_microseconds_per_purchase": Self.rounded(step.result.cost),
                ]
            },
            // There is no ratio if fewer than two sizes were measured.
            "growth_ratio": BenchGrowth.ratio(growth).map(Self.rounded) ?? NSNull() as Any,
            "idle_percent": idle.map { Self.rounded($0.percent) } ?? NSNull() as Any,
            "idle_unhurried_percent": unhurriedIdle.map { Self.rounded($0.percent) } ?? NSNull()
                as Any,
        ]
        costs["processes"] = Dictionary(
            uniqueKeysWithValues: closed.costs.map { cost in
                (
                    cost.name,
                    [
                        "cpu_seconds": Self.rounded(cost.cpuSeconds),
                        "cpu_microseconds_per_purchase": Self.rounded(
                            cost.microseconds(perEachOf: closed.purchases)
                        ),
                        "rss_mb": Double(cost.usage.residentBytes >> 20),
                        "rss_mb_max": Double(cost.usage.residentBytesMax >> 20),
                    ]
                )
            }
        )
        if let idle {
            costs["idle"] = Dictionary(
                uniqueKeysWithValues: idle.costs.map {
                    ($0.name, Self.rounded(idle.percent(of: $0)))
                }
            )
        }
        return costs
    }

    private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

    private static func numbers(of latencies: Latencies) -> [String: Double] {
        [
            "p50": rounded(latencies.p50), "p99": rounded(latencies.p99),
            "p99.9": rounded(latencies.p999),
        ]
    }

    private static func numbers(
        of latencies: [(name: String, latencies: Latencies)]
    ) -> [String: [String: Double]] {
        var numbers: [String: [String: Double]] = [:]
        for (name, values) in latencies {
            numbers[name.replacing("asked → ", with: "")] = Self.numbers(of: values)
        }
        return numbers
    }

    private static func numbers(of sizes: BatchSizes) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: sizes.rows.map { ($0.name, rounded($0.size)) })
    }
}

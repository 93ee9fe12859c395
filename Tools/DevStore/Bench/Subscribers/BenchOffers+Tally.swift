extension BenchOffers {
    /// The purchases of one kind.
    struct Tally: Sendable {
        var purchases = 0
        /// The seconds from the first request until the last purchase is delivered, of all rounds.
        var seconds = 0.0
        /// The processor time of each process of the store, without the load itself.
        var processorSeconds: [String: Double] = [:]
        /// The processor time of what comes before the purchases.
        var preparationSeconds = 0.0
        /// The processor time of a purchase in each round, in microseconds.
        var roundCosts: [Double] = []

        /// The purchases a second.
        var rate: Double { Double(purchases) / max(seconds, 0.001) }
        /// The processor time of a purchase in microseconds.
        var cost: Double { processorSeconds.values.reduce(0) { $0 + microseconds($1) } }

        /// The processor time of what comes before a purchase, in microseconds.
        var preparationCost: Double { microseconds(preparationSeconds) }

        /// The part of ``cost`` that one process has.
        func cost(of process: String) -> Double { microseconds(processorSeconds[process] ?? 0) }

        /// Adds the purchases of a further round.
        mutating func add(_ round: Tally) {
            purchases += round.purchases
            seconds += round.seconds
            preparationSeconds += round.preparationSeconds
            processorSeconds.merge(round.processorSeconds, uniquingKeysWith: +)
            roundCosts.append(round.cost)
        }

        private func microseconds(_ seconds: Double) -> Double {
            seconds * 1e6 / Double(max(purchases, 1))
        }
    }

    /// The measurements.
    struct Result: Sendable {
        let ordinary: Tally
        let promotional: Tally
        let code: Tally

        /// The cost of a purchase, divided by that of an ordinary one: the median of the rounds.
        ///
        /// A round in which something else used the machine changes it little.
        func costRatio(of tally: Tally) -> Double {
            let ratios = roundRatios(of: tally).sorted()
            guard !ratios.isEmpty else { return tally.cost / max(ordinary.cost, 1) }
            let (lower, upper) = (ratios[(ratios.count - 1) / 2], ratios[ratios.count / 2])
            return (lower + upper) / 2
        }

        /// The smallest and the largest of the ratios that single rounds have; `nil` if none was measured.
        ///
        /// They show how much of the ratio may be chance.
        func costRatios(of tally: Tally) -> ClosedRange<Double>? {
            let ratios = roundRatios(of: tally)
            guard let least = ratios.min(), let most = ratios.max() else { return nil }
            return least...most
        }

        /// The rate of purchases, divided by that of ordinary ones.
        func rateRatio(of tally: Tally) -> Double { tally.rate / max(ordinary.rate, 0.001) }

        /// The ratio of each round.
        private func roundRatios(of tally: Tally) -> [Double] {
            zip(tally.roundCosts, ordinary.roundCosts).map { $0 / max($1, 1) }
        }
    }
}

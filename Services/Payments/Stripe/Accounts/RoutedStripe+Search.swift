import EventTypes
import Logging
import StoreAPI

/// Searches wherever a buyer may have been charged in the time that the books have lost (decision 79).
extension RoutedStripe {
    /// Payments that are looked through.
    private struct Place: Hashable, Sendable {
        let account: ProcessorAccountName
        /// The buyer whose payments they are; `nil` for those of all buyers.
        let customer: String?
    }

    /// The findings at a place.
    private struct Look: Sendable {
        let place: Place
        let searches: [StraySearch]
        /// The payments, by the attempts that search; `nil` if Stripe did not answer.
        let found: [AttemptID: String]?
    }

    /// Searches for each attempt at the account of its card, after all other places where a card that the
    /// books have lost may have been charged.
    ///
    /// A charge elsewhere is not taken over: inquiries, refunds and disputes go by the attempt's own card.
    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async {
        let buyers: [PaymentMethod: BuyerAccounts]
        do { buyers = try await self.buyers(Array(Set(searches.map(\.paymentMethod)))) } catch {
            logger.warning(
                "Payment methods cannot be read; no lost charges were searched for",
                metadata: ["error": "\(error)"]
            )
            for search in searches { answer(search.attemptID, .unavailable) }
            return
        }
        var shares: [Place: [StraySearch]] = [:]
        var atHome: [PeriodSearch] = []
        for search in searches {
            let buyer = buyers[search.paymentMethod]
            let places = buyer.map { self.places(of: $0, since: search.since) } ?? []
            for place in places {
                let isHome = place.account == buyer?.home
                let own = isHome ? buyer?.buyers[place.account]?.reference : nil
                shares[place, default: []].append(StraySearch(search: search, own: own))
            }
            if places.isEmpty { atHome.append(search) }
        }
        var lookout = StrayLookout(shares.values.joined().map(\.search.attemptID))
        await withTaskGroup(of: Look?.self) { [shares, atHome] group in
            group.addTask {
                await self.searchAtHome(atHome, answer)
                return nil
            }
            for (place, searches) in shares {
                group.addTask { await self.look(at: place, searches) }
            }
            while let done = await group.next() {
                guard let look = done else { continue }
                let clear = note(look, in: &lookout, answer)
                group.addTask {
                    await self.searchAtHome(clear, answer)
                    return nil
                }
            }
        }
    }

    /// The places where a buyer may have been charged, besides the list in which inquiries look.
    ///
    /// A backup has all buyers from before it. So where the books know an older one, no other can be lost.
    /// Elsewhere a lost one can only be at the account of the app, where cards are saved.
    private func places(of buyer: BuyerAccounts, since time: MachineTime) -> [Place] {
        accounts.all.compactMap { account in
            let isHome = account.name == buyer.home
            let known = buyer.buyers[account.name]
            if let known, let reference = known.reference, known.madeAt <= time {
                return isHome ? nil : Place(account: account.name, customer: reference)
            }
            guard known != nil || account.name == accounts.of(buyer.app).name else { return nil }
            return Place(account: account.name, customer: nil)
        }
    }

    private func look(at place: Place, _ searches: [StraySearch]) async -> Look {
        let processor = accounts.named(place.account)?.processor
        return Look(
            place: place,
            searches: searches,
            found: await processor?.strays(searches, of: place.customer)
        )
    }

    /// Answers the searches that have found a charge, or were not answered everywhere.
    ///
    /// - Returns: Those that have found nothing at any place.
    private func note(
        _ look: Look,
        in lookout: inout StrayLookout,
        _ answer: Answer<PeriodFinding>
    ) -> [PeriodSearch] {
        var clear: [PeriodSearch] = []
        for search in look.searches.map(\.search) {
            let id = search.attemptID
            let stray = look.found?[id]
            if let stray { complain(search, stray, at: look.place.account) }
            lookout.note(id, stray != nil ? .strayed : look.found == nil ? .unavailable : .nothing)
            switch lookout.finding(of: id) {
            case .nothing?: clear.append(search)
            case let finding?: answer(id, finding)
            case nil: break
            }
        }
        strays.end(clear.map(\.attemptID))
        return clear
    }

    private func complain(
        _ search: PeriodSearch,
        _ payment: String,
        at account: ProcessorAccountName
    ) {
        guard strays.note(search.attemptID) else { return }
        logger.error(
            """
            Stripe has a charge for a renewal, by a card that the books have lost; the renewal waits. Give \
            it back there, and remove `attempt` from its metadata
            """,
            metadata: [
                "stripe.payment": "\(payment)", "account": "\(account)",
                "transaction.id": "\(search.transactionID)", "attempt": "\(search.attemptID)",
            ]
        )
    }

    /// Searches in the lists of the buyers who have the cards.
    private func searchAtHome(
        _ searches: [PeriodSearch],
        _ answer: @escaping Answer<PeriodFinding>
    ) async {
        guard !searches.isEmpty else { return }
        await route(
            searches,
            by: { $0.paymentMethod },
            orWait: { search, _ in answer(search.attemptID, .unavailable) },
            to: { await $0.search($1, answer: answer) }
        )
    }
}

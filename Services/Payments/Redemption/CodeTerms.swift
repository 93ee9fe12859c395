import EventTypes
import Foundation
import StoreAPI

/// The terms of a code, as a person is shown and confirms it.
struct CodeTerms: Codable, Hashable, Sendable {
    var product: ProductID
    /// The offers.
    var grant: OfferGrant
    /// The ordinary price, at which the subscription renews afterwards.
    var ordinary: Money
    /// A random text that tells one showing of the page from the next.
    var page = RedemptionTicket.secret()

    init(product: ProductID, grant: OfferGrant, ordinary: Money) {
        self.product = product
        self.grant = grant
        self.ordinary = ordinary
    }

    /// Reads the terms that a form has sent back; `nil` if they are none.
    ///
    /// The payment is refused unless they are what the account gets.
    init?(_ mark: String) {
        guard mark.utf8.count <= 4096,
            // What cannot be read is no mark.
            let terms = try? JSONDecoder().decode(CodeTerms.self, from: Data(mark.utf8))
        else { return nil }
        self = terms
    }

    /// The terms as a form sends them back.
    func mark() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

extension OfferListing {
    /// The terms of a period's offer.
    init(of offer: PeriodOffer) {
        self.init(
            mode: offer.mode,
            period: offer.period,
            numberOfPeriods: offer.numberOfPeriods,
            price: offer.price
        )
    }
}

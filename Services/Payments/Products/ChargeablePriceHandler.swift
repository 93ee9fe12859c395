import EventTypes
import Logging
import Postgres
import Stripe

/// Names the prices of the catalog that Stripe cannot charge.
///
/// With `PROCESSOR=stripe`, `catalog` refuses such a price. It does not look at those that it had
/// before, and a buyer's payment for one fails.
struct ChargeablePriceHandler: Sendable {
    /// A price that Stripe cannot charge.
    struct UnchargeablePrice: Hashable, Sendable {
        let productID: ProductID
        let price: Money
        let reason: String
    }

    private static let pageSize = 1000
    /// The most prices that the log names one by one.
    private static let linesMax = 20

    let client: PostgresClient
    let now: @Sendable () -> StoreTime
    let logger: Logger

    /// Logs a warning for each such price.
    ///
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    func warn() async throws {
        let found = try await find()
        for price in found.prefix(Self.linesMax) {
            logger.warning(
                "Stripe cannot charge a price of the catalog, so payments for it fail",
                metadata: [
                    "product": "\(price.productID)", "price": "\(price.price)",
                    "reason": "\(price.reason)",
                ]
            )
        }
        guard found.count > Self.linesMax else { return }
        logger.warning(
            "Stripe cannot charge more prices of the catalog",
            metadata: ["count": "\(found.count - Self.linesMax)"]
        )
    }

    /// Finds such prices of products that are on sale or renew, also those of offers and scheduled ones.
    ///
    /// - Returns: The prices, in the order of their products.
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    func find() async throws -> [UnchargeablePrice] {
        var found: [UnchargeablePrice] = []
        var last: ProductID?
        repeat {
            let page = try await client.withConnection { [last] connection in
                try ProductStore.page(after: last, limit: Self.pageSize, on: connection)
            }
            for product in page { found += Self.problems(of: product.inForce(at: now())) }
            last = page.count == Self.pageSize ? page.last?.id : nil
        } while last != nil
        return found
    }

    private static func problems(of product: Product) -> [UnchargeablePrice] {
        guard product.isOnSale || product.subscription != nil else { return [] }
        return prices(of: product).compactMap { price in
            reason(against: price).map {
                UnchargeablePrice(productID: product.id, price: price, reason: $0)
            }
        }
    }

    /// The reason why Stripe cannot charge a price; `nil` if it can.
    private static func reason(against price: Money) -> String? {
        do throws(ProcessorAmountError) {
            try ProcessorAmount(price).checkMinimum()
            return nil
        } catch {
            return error.description
        }
    }

    /// The prices for which something is charged, each once.
    private static func prices(of product: Product) -> [Money] {
        var offers = product.promotionalOffers.map(\.terms) + product.codeOffers.map(\.terms)
        offers += product.winBackOffers.map(\.terms)
        if let offer = product.introductoryOffer { offers.append(offer) }
        var prices = Set(product.prices.values)
        prices.formUnion(product.priceChanges.values.map(\.price))
        for offer in offers { prices.formUnion(offer.prices.values) }
        return prices.filter { !$0.isZero }.sorted {
            ($0.currency.rawValue, $0.minorUnits) < ($1.currency.rawValue, $1.minorUnits)
        }
    }
}

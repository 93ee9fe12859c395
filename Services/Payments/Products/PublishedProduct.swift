import EventTypes
import Messaging

/// A product, and its JSON exactly as `catalog` published it.
///
/// The JSON is kept rather than encoded again, so that members of a newer version of the store are
/// there when `payments` is upgraded, and a proof from the log finds what it makes again.
struct PublishedProduct: Hashable, Sendable {
    let product: Product
    /// The bytes of one JSON object.
    let bytes: [UInt8]

    /// Reads the product of a `product.changed.v1`.
    ///
    /// - Throws: `DecodingError` if the event does not read as one; `EncodingError` only where the
    ///   product cannot be cut out of the data and is encoded instead.
    init(of event: ReceivedEvent) throws {
        try self.init(of: event.decode(ProductChanged.self).product, in: event.data)
    }

    /// Cuts the product out of the data of an event that has decoded as one.
    ///
    /// - Throws: `EncodingError`, only where the cut fails and the product is encoded instead.
    init(of product: Product, in data: [UInt8]) throws {
        self.product = product
        if let range = PlainJSON.rangeOfObject("product", in: data) {
            bytes = Array(data[range])
        } else {
            let encoded = try EventCoding.encode(ProductChanged(product: product))
            bytes = PlainJSON.rangeOfObject("product", in: encoded).map { Array(encoded[$0]) } ?? []
        }
    }
}

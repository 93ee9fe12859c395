import EventTypes
import Messaging

/// A product, and its JSON exactly as `catalog` published it.
///
/// The JSON is stored as it came and not encoded again. So members that a newer version of the
/// store added are still there when `payments` is upgraded, and a rebuild from the log gets the
/// same bytes.
struct PublishedProduct: Hashable, Sendable {
    let product: Product
    /// The bytes of one JSON object.
    let bytes: [UInt8]

    /// Reads the product of a `product.changed.v1`.
    ///
    /// - Throws: `DecodingError` if the event cannot be decoded; `EncodingError` only if the
    ///   product cannot be cut out of the data and is encoded instead.
    init(of event: ReceivedEvent) throws {
        try self.init(of: event.decode(ProductChanged.self).product, in: event.data)
    }

    /// Cuts the product out of the data of a decoded event.
    ///
    /// - Throws: `EncodingError`, only if the cut fails and the product is encoded instead.
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

import EventTypes
import StoreAPI

/// The form that extends all subscribers of a product.
///
/// Pure.
enum MassExtensionForm {
    /// The extension that a form asks for, before anybody has confirmed it.
    struct Wish: Hashable, Sendable {
        let productID: ProductID
        let bundleID: BundleID
        /// The storefronts of the subscribers; `nil` for all.
        let storefronts: [Storefront]?
        let days: Int
        let code: ExtensionRequest.ReasonCode
        /// The newest request about the product when the form was opened; 0 if there was none.
        let newest: Int64

        /// The key under which the store extends once.
        ///
        /// It is the same for everybody who has seen no newer request. So a form that is sent again
        /// after its answer was lost extends nobody twice.
        var key: IdempotencyKey { IdempotencyKey(unchecked: "console-\(newest)") }

        /// The fields, as a browser sends them.
        var fields: [(name: String, value: String)] {
            [
                ("app", bundleID.rawValue),
                ("storefronts", (storefronts ?? []).map(\.rawValue).joined(separator: " ")),
                ("days", "\(days)"), ("code", "\(code.rawValue)"), ("newest", "\(newest)"),
            ]
        }

        /// The request to the store.
        func request(because reason: ActReason) -> MassExtensionRequest {
            MassExtensionRequest(
                bundleID: bundleID,
                productID: productID,
                days: days,
                reasonCode: code,
                storefronts: storefronts,
                reason: reason
            )
        }
    }

    /// The place to go on from.
    static func back(to product: ProductID) -> ConsoleProblem.Back {
        ConsoleProblem.Back(
            path: MassExtensionListPage.path(of: product),
            words: "Back to the extensions"
        )
    }

    /// Reads a form.
    ///
    /// - Throws: ``ConsoleProblem`` if a field is missing or cannot be read. The service judges the
    ///   rest.
    static func wish(
        of product: ProductID,
        in form: FormFields
    ) throws(ConsoleProblem) -> Wish {
        let back = back(to: product)
        guard let app = form["app"].flatMap({ BundleID(rawValue: $0) }) else {
            throw ExtensionFields.refusal("The app is \(BundleID.form).", back)
        }
        guard let newest = form["newest"].flatMap({ Int64($0) }), newest >= 0 else {
            throw ConsoleProblem(400, "The form cannot be read", "Nothing was done.", back: back)
        }
        let names = (form["storefronts"] ?? "").uppercased().split { $0 == " " || $0 == "," }
        var places: [Storefront] = []
        for name in names {
            guard let place = Storefront(rawValue: String(name)) else {
                throw ExtensionFields.refusal("“\(name)” is not \(Storefront.form).", back)
            }
            if !places.contains(place) { places.append(place) }
        }
        return Wish(
            productID: product,
            bundleID: app,
            storefronts: places.isEmpty ? nil : places,
            days: try ExtensionFields.days(in: form, back: back),
            code: try ExtensionFields.code(in: form, back: back),
            newest: newest
        )
    }
}

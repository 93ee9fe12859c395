/// An error of a test session.
public enum StoreTestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The store refused the request.
    case refused(status: Int, code: String, detail: String)
    /// The account has no such subscription.
    case notSubscribed(product: String)
    /// The store does not sell the product in the account's storefront.
    case notSold(product: String)
    /// The file is no JSON object, so it is no StoreKit configuration file.
    case notAStoreKitFile
    /// There is no private key in the folder.
    case noKey(path: String)
    /// The store did not do something in time.
    case tooLate(String)

    /// The error in words.
    public var description: String {
        switch self {
        case .refused(let status, let code, let detail):
            "the store refused it (\(status) \(code)): \(detail)"
        case .notSubscribed(let product): "the account has no subscription to '\(product)'"
        case .notSold(let product): "the store does not sell '\(product)' in this storefront"
        case .notAStoreKitFile: "the file is not a JSON object, so it is not a StoreKit file"
        case .noKey(let path): "there is no private key in \(path)"
        case .tooLate(let what): "the store did not do it in time: \(what)"
        }
    }
}

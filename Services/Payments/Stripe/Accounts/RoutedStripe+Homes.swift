import Logging
import StoreAPI

extension RoutedStripe {
    var accountNames: [ProcessorAccountName] { accounts.all.map(\.name) }

    func findHomes(of methods: [PaymentMethod]) async -> [PaymentMethod: ProcessorAccountName] {
        do {
            return try await homes(methods)
        } catch {
            logger.warning(
                "Payment methods cannot be read; attempts are not sorted by their accounts",
                metadata: ["error": "\(error)"]
            )
            return [:]
        }
    }
}

import ArgumentParser
import Foundation
import PaymentQueue
import ReceiptValidation

/// A shop on the command line.
///
/// It shows how an app uses the payment queue, from the product list to the finish.
@main
struct Shop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shop",
        abstract: "Sell from a store on the command line.",
        discussion: """
            Start a store with `make run`, then let the store's operator make you a token:

              export SHOP_TOKEN=$(.build/debug/counterfoil token account --account alice)
              shop list
              shop buy com.example.coins.100
            """,
        subcommands: [
            List.self, Buy.self, Listen.self, Restore.self, Owned.self, Subscription.self,
            Receipt.self, Coins.self,
        ]
    )
}

/// `shop list`: shows the products with the storefront's prices.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show what can be bought.")

    @OptionGroup var store: StoreOptions
    @Argument(help: "Product identifiers; by default those that the app knows.")
    var identifiers = ProductFetch.identifiers

    func run() async throws {
        try store.configure()
        guard SKPaymentQueue.canMakePayments() else {
            throw ShopError("This account may not make payments.")
        }
        let response = try await ProductFetch().run(identifiers)
        for product in response.products {
            let name = product.productIdentifier.padding(toLength: 32, withPad: " ", startingAt: 0)
            let price = (product.regularPrice ?? "?").padding(
                toLength: 10,
                withPad: " ",
                startingAt: 0
            )
            print(name, price, product.localizedTitle)
        }
        for identifier in response.invalidProductIdentifiers {
            print("\(identifier): not sold here")
        }
    }
}

/// `shop buy`: makes a payment and shows all changes of its transaction.
struct Buy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Buy a product.")

    @OptionGroup var store: StoreOptions
    @Argument(help: "The product's identifier.")
    var identifier: String
    @Option(help: "How many.")
    var quantity = 1
    @Option(help: "The app's own name for the buyer.")
    var username: String?

    func run() async throws {
        try store.configure()
        let observer = try StoreObserver(wallet: store.wallet())
        SKPaymentQueue.default().add(observer)
        // An app also does this shortly before it ends.
        defer { SKPaymentQueue.default().remove(observer) }
        let response = try await ProductFetch().run([identifier])
        guard let product = response.products.first else {
            throw ShopError("\(identifier) is not sold here; `shop list` shows what is.")
        }
        let payment = SKMutablePayment(product: product)
        payment.quantity = quantity
        payment.applicationUsername = username
        SKPaymentQueue.default().add(payment)
        var bought: SKPaymentTransaction?
        for await event in observer.events {
            switch event {
            case .began(let transaction):
                if bought == nil, transaction.payment == payment { bought = transaction }
            case .settled(let transaction):
                guard transaction === bought else { continue }
                guard transaction.transactionState != .failed else { throw ExitCode.failure }
                return
            case .restored, .restoreEnded: continue
            }
        }
    }
}

/// `shop listen`: observes the queue, as an app does while it runs.
struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Deliver and finish what is unfinished, until nothing is."
    )

    @OptionGroup var store: StoreOptions

    func run() async throws {
        try store.configure()
        let observer = try StoreObserver(wallet: store.wallet())
        var unfinished: Set<String> = []
        for try await transaction in SKPaymentTransaction.unfinished {
            unfinished.insert(transaction.id)
        }
        print("\(unfinished.count) unfinished")
        guard !unfinished.isEmpty else { return }
        SKPaymentQueue.default().add(observer)
        defer { SKPaymentQueue.default().remove(observer) }
        for await event in observer.events {
            guard case .settled(let transaction) = event else { continue }
            unfinished.remove(transaction.id)
            if unfinished.isEmpty { return }
        }
    }
}

/// `shop restore`: restores purchases from other devices.
struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Restore what the account owns.")

    @OptionGroup var store: StoreOptions
    @Option(help: "Only what was bought under this name.")
    var username: String?

    func run() async throws {
        try store.configure()
        let observer = try StoreObserver(wallet: store.wallet())
        SKPaymentQueue.default().add(observer)
        defer { SKPaymentQueue.default().remove(observer) }
        SKPaymentQueue.default().restoreCompletedTransactions(withApplicationUsername: username)
        var restored: Set<String> = []
        var unsettled: Set<String> = []
        var hasEnded = false
        for await event in observer.events {
            switch event {
            case .restored(let transaction):
                restored.insert(transaction.id)
                unsettled.insert(transaction.id)
            case .settled(let transaction): unsettled.remove(transaction.id)
            case .restoreEnded(let error):
                if let error { throw ShopError("Nothing was restored: \(error)") }
                hasEnded = true
            case .began: continue
            }
            if hasEnded, unsettled.isEmpty { return print("\(restored.count) restored") }
        }
    }
}

/// `shop owned`: shows the products that an app unlocks when it starts.
struct Owned: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show what the account owns.")

    @OptionGroup var store: StoreOptions

    func run() async throws {
        try store.configure()
        var owned: [String] = []
        do {
            let ends = try await SubscriptionStatus.ends()
            for try await transaction in SKPaymentTransaction.currentEntitlements {
                let product = transaction.payment.productIdentifier
                let end = ends[product].map { " until \($0)" } ?? ""
                owned.append("\(product) \(transaction.transactionIdentifier ?? "")\(end)")
            }
        } catch let error as SKError where error.code == .cloudServiceNetworkConnectionFailed {
            print("The store is out of reach. By this device's own log:")
            owned = try store.wallet().unlocked.sorted()
        }
        for line in owned { print(line) }
    }
}

/// `shop receipt`: stores the app receipt in a file.
struct Receipt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Refresh the app receipt.")

    @OptionGroup var store: StoreOptions

    func run() async throws {
        try store.configure()
        let refresh = ReceiptRefresh()
        try await refresh.run()
        guard let url = SKPaymentQueue.default().receiptURL else { return }
        let length = try FileManager.default.attributesOfItem(atPath: url.path)[.size] ?? 0
        print("\(url.path): \(length) bytes")
        guard let receipt = try SKPaymentQueue.default().appReceipt() else {
            return print("Give --root to see what it holds.")
        }
        for purchase in receipt.purchases {
            print(purchase.productID, purchase.originalTransactionID, "×\(purchase.quantity)")
        }
    }
}

/// `shop coins`: shows the coins that the app has granted, from its own log.
struct Coins: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show how many coins this device was given."
    )

    @OptionGroup var store: StoreOptions

    func run() async throws { print("\(try store.wallet().coins) coins") }
}

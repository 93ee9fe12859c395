import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import StoreHarness

/// One purchase on a store that runs elsewhere, over HTTP alone: it shows what an app sees.
struct RemoteStory {
    let terminal: Terminal
    let client: StoreClient

    /// Makes the purchase and shows each step.
    ///
    /// - Throws: ``HarnessError`` if the store does not do what it should.
    func tell() async throws {
        let price = try await askForProducts()
        let credits = try await balance()
        let transaction = try await pay(price)
        try await waitForDelivery(transaction)
        try await showReceipt(transaction)
        try await showCredits(since: credits)
        try await finish(transaction)
    }

    private func askForProducts() async throws -> Money {
        terminal.heading("1  The app asks what can be bought, and for how much")
        let answer = try await client.products([SampleCatalog.coins.rawValue])
        terminal.show(
            "GET",
            "/v1/products?ids=\(SampleCatalog.coins)&storefront=USA",
            service: "catalog",
            body: nil,
            answer.response
        )
        guard let product = try answer.value.products.first else {
            throw HarnessError("\(SampleCatalog.coins) is not sold; import the sample catalog.")
        }
        return product.price
    }

    private func pay(_ price: Money) async throws -> Transaction {
        terminal.heading("2  The buyer taps: a payment is added to the queue")
        var priced = PaymentRequest.sample(SampleCatalog.coins)
        priced.price = price
        let request = priced
        // A store that has just started can sell once payments has received the catalog.
        let (key, answer) = try await eventually(
            within: .seconds(90),
            "payments to know \(SampleCatalog.coins)"
        ) {
            let key = "demo-\(UUID().uuidString)"
            let answer = try await client.add(request, key: key)
            return answer.problem?.code == "product_unknown" ? nil : (key, answer)
        }
        terminal.show(
            "POST",
            Routes.payments,
            service: "payments",
            headers: ["idempotency-key: \(key)"],
            body: String(decoding: try JSONEncoder().encode(request), as: UTF8.self),
            answer.response
        )
        let transaction = try answer.value.transaction
        let again = try await client.add(request, key: key)
        guard try again.value.transaction.id == transaction.id else {
            throw HarnessError("The same key led to another transaction: \(again.response.text)")
        }
        terminal.line(
            "  Asked again under the same key: \(again.status), transaction \(transaction.id). "
                + "Nothing happens twice.",
            .dim
        )
        return transaction
    }

    private func waitForDelivery(_ transaction: Transaction) async throws {
        terminal.heading("3  Charged, posted, signed, delivered: the queue has it")
        let answer = try await eventually(within: .seconds(90), "the purchase to be delivered") {
            let answer = try await client.unfinished()
            let queued = try answer.value.transactions.first { $0.transaction.id == transaction.id }
            return queued?.isDelivered == true ? answer : nil
        }
        terminal.show(
            "GET",
            Routes.queueTransactions,
            service: "fulfillment",
            body: nil,
            answer.response
        )
    }

    private func showReceipt(_ transaction: Transaction) async throws {
        terminal.heading("4  The receipt: a signed transaction that anybody can verify")
        let answer = try await client.receipt(transaction.id)
        terminal.show(
            "GET",
            Routes.receipt(transaction.id),
            service: "receipts",
            body: nil,
            answer.response
        )
        let root = try await client.raw(.GET, client.urls.receipts + Routes.rootCertificate)
        let check = try SignedTransactionCheck(
            try answer.value.signedTransaction,
            rootCertificate: Array(root.body)
        )
        for name in check.chain { terminal.field("certificate", name) }
        terminal.field("payload", "")
        terminal.flow(check.payload, indent: 4)
        // An app has the root in its bundle; here the store is asked for it.
        terminal.field("verified", "signature, chain, and the root that the store serves", .green)
    }

    private func balance() async throws -> Int64 {
        try await client.credits().value.balances.values.reduce(0, +)
    }

    private func showCredits(since before: Int64) async throws {
        terminal.heading("5  What the account owns")
        let answer = try await client.credits()
        terminal.show("GET", Routes.credits, service: "fulfillment", body: nil, answer.response)
        let now = try await balance()
        guard now == before + 100 else {
            throw HarnessError("100 coins were bought, but \(now - before) arrived.")
        }
    }

    private func finish(_ transaction: Transaction) async throws {
        terminal.heading("6  The app has done its part, and finishes the transaction")
        let answer = try await client.finish(transaction.id)
        terminal.show(
            "POST",
            Routes.finish(transaction.id),
            service: "fulfillment",
            body: nil,
            answer.response
        )
        let first = try answer.value
        let again = try await client.finish(transaction.id)
        guard try again.value == first else {
            throw HarnessError("The second finish was answered differently: \(again.response.text)")
        }
        terminal.line("  Finished again: \(again.status), the same answer.", .dim)
    }
}

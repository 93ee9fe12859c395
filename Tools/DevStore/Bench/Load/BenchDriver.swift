import EventTypes
import Foundation
import NIOCore
import NIOPosix
import StoreAPI
import StoreHarness

/// Buys and finishes, either with a fixed number of purchases in progress or at a fixed rate.
///
/// After ``open()`` everything runs on the single event loop, including timers and callbacks.
final class BenchDriver: @unchecked Sendable {  // Runs on one event loop.
    /// The load to drive.
    struct Load: Sendable {
        var purchases: Int
        var accounts: Int
        var inFlight: Int
        var connections: Int
        /// The number of purchases begun per second; `nil` is as many as `inFlight` allows.
        var rate: Int?
    }

    /// The times of one purchase, in nanoseconds of the monotonic clock; 0 if one is not known.
    ///
    /// Those that only the services know come from ``BenchBooks``.
    struct Times {
        var asked: UInt64 = 0
        var answered: UInt64 = 0
        /// The time at which `payments` committed the payment.
        var accepted: UInt64 = 0
        /// The time at which the sandbox's processor committed the charge.
        var charged: UInt64 = 0
        /// The time at which `payments` committed it as purchased.
        var purchased: UInt64 = 0
        /// The time at which the relay of `payments` handed the event of that over to be sent.
        var sent: UInt64 = 0
        /// The time at which the relay of `payments` noted that the broker has it.
        var published: UInt64 = 0
        /// The time at which `receipts` began to apply it.
        var atReceipts: UInt64 = 0
        /// The time at which `receipts` committed the receipt.
        var signed: UInt64 = 0
        /// The time at which the relay of `receipts` handed the receipt over to be sent.
        var receiptSent: UInt64 = 0
        /// The time at which the relay of `receipts` noted that the broker has the receipt.
        var receiptPublished: UInt64 = 0
        /// The time at which `fulfillment` began to apply it.
        var atFulfillment: UInt64 = 0
        /// The time at which `fulfillment` committed the delivery.
        var queued: UInt64 = 0
        /// The time at which the account's stream reported it as delivered.
        var delivered: UInt64 = 0
        var finished: UInt64 = 0
    }

    private let load: Load
    private let ports: (payments: Int, fulfillment: Int)
    private let tokens: [String]
    private let eventLoop: any EventLoop
    private let done: EventLoopPromise<Void>
    private let paymentHeads: [ByteBuffer]
    private let paymentBody: ByteBuffer
    private let keyPrefix = String(UInt32.random(in: .min ... .max), radix: 36)

    // The one that was idle longest is used first: services close a connection after an idle minute.
    private var idlePayments: CircularBuffer<BenchConnection> = []
    private var idleFinishes: CircularBuffer<BenchConnection> = []
    private var streams: [BenchStream] = []
    private var waitingPayments = Line<Int>()
    private var waitingFinishes = Line<(id: Int, purchase: Int)>()
    private var purchaseOfTransaction: [Int: Int] = [:]
    /// The times of transactions that the stream reported before their payments were answered.
    private var deliveredEarly: [Int: UInt64] = [:]
    private var begun = 0
    private var answeredCount = 0
    private var finishedCount = 0
    private var isOver = false
    private(set) var times: [Times]
    private(set) var transactionIDs: [Int]
    private(set) var retries = 0

    init(
        load: Load,
        store: StoreHarness,
        eventLoop: any EventLoop
    ) throws {
        self.load = load
        self.eventLoop = eventLoop
        done = eventLoop.makePromise()
        ports = (
            store.process(.payments).port, store.process(.fulfillment).port
        )
        tokens = try (0..<load.accounts).map {
            try store.keys.token(account: AccountID(unchecked: "buyer-\($0)"))
        }
        let body = try JSONEncoder().encode(PaymentRequest.sample(SampleCatalog.coins))
        paymentBody = ByteBuffer(bytes: body)
        paymentHeads = tokens.map { token in
            ByteBuffer(
                string: "POST \(Routes.payments) HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                    + "authorization: Bearer \(token)\r\ncontent-type: application/json\r\n"
                    + "content-length: \(body.count)\r\nidempotency-key: "
            )
        }
        times = Array(repeating: Times(), count: load.purchases)
        transactionIDs = Array(repeating: 0, count: load.purchases)
    }

    /// Returns the account of a purchase.
    func account(of purchase: Int) -> Int { purchase % load.accounts }

    /// Opens all connections and streams.
    func open() async throws {
        let onClose: @Sendable () -> Void = { self.fail("A connection was closed.") }
        for _ in 0..<load.connections {
            let payment = try await BenchConnection.connect(
                port: ports.payments,
                on: eventLoop,
                onClose: onClose
            ).get()
            let finish = try await BenchConnection.connect(
                port: ports.fulfillment,
                on: eventLoop,
                onClose: onClose
            ).get()
            try await eventLoop.submit {
                self.idlePayments.append(payment)
                self.idleFinishes.append(finish)
            }.get()
        }
        for token in tokens {
            let stream = try await BenchStream.open(
                port: ports.fulfillment,
                token: token,
                on: eventLoop,
                onDelivered: { self.delivered($0) },
                onClose: onClose
            ).get()
            try await eventLoop.submit { self.streams.append(stream) }.get()
        }
    }

    /// Drives the complete load and returns when every purchase is finished.
    func run() async throws {
        eventLoop.execute {
            if let rate = self.load.rate {
                self.beginAtRate(rate, since: Self.now())
            } else {
                for _ in 0..<min(self.load.inFlight, self.load.purchases) { self.begin() }
            }
        }
        try await done.futureResult.get()
        try await eventLoop.submit {
            self.isOver = true
            for connection in self.idlePayments + self.idleFinishes { connection.close() }
            for stream in self.streams { stream.close() }
        }.get()
    }

    /// The numbers of purchases that are finished, answered and started.
    func progress() async throws -> (finished: Int, answered: Int, begun: Int) {
        try await eventLoop.submit { (self.finishedCount, self.answeredCount, self.begun) }.get()
    }

    private static func now() -> UInt64 { NIODeadline.now().uptimeNanoseconds }

    private func fail(_ what: String) {
        guard !isOver else { return }
        isOver = true
        done.fail(BenchError(what))
    }

    private func beginAtRate(_ rate: Int, since start: UInt64) {
        let due = Int(Double(Self.now() - start) / 1e9 * Double(rate))
        while begun < min(due, load.purchases) {
            // The request counts from the time it was due, so a load that falls behind cannot hide
            // that.
            begin(at: start + UInt64(Double(begun) / Double(rate) * 1e9))
        }
        guard begun < load.purchases, !isOver else { return }
        eventLoop.scheduleTask(in: .milliseconds(1)) { self.beginAtRate(rate, since: start) }
    }

    private func begin(at time: UInt64 = BenchDriver.now()) {
        guard begun < load.purchases else { return }
        let purchase = begun
        begun += 1
        times[purchase].asked = time
        waitingPayments.append(purchase)
        sendPayments()
    }

    private func sendPayments() {
        while !idlePayments.isEmpty, let purchase = waitingPayments.next() {
            let connection = idlePayments.removeFirst()
            var request = paymentHeads[account(of: purchase)]
            request.writeString("\(keyPrefix)-\(purchase)\r\n\r\n")
            request.writeImmutableBuffer(paymentBody)
            connection.send(request) { status, body in
                self.idlePayments.append(connection)
                self.answered(purchase, status, body)
                self.sendPayments()
            }
        }
    }

    private func answered(_ purchase: Int, _ status: Int, _ body: ByteBuffer) {
        guard (200..<300).contains(status) else {
            guard status == 503 else {
                return fail("A payment was refused with \(status): \(String(buffer: body))")
            }
            retries += 1
            eventLoop.scheduleTask(in: .milliseconds(20)) {
                self.waitingPayments.append(purchase)
                self.sendPayments()
            }
            return
        }
        let id = body.withUnsafeReadableBytes { bytes in
            find(#""id":""#, in: bytes, from: 0).map { wholeNumber(in: bytes, from: $0 + 6) }
        }
        guard let id else { return fail("An answer without an id: \(String(buffer: body))") }
        times[purchase].answered = Self.now()
        answeredCount += 1
        transactionIDs[purchase] = id
        purchaseOfTransaction[id] = purchase
        guard let time = deliveredEarly.removeValue(forKey: id) else { return }
        finish(id, purchase, at: time)
    }

    private func delivered(_ id: Int) {
        let time = Self.now()
        guard let purchase = purchaseOfTransaction[id] else {
            if deliveredEarly[id] == nil { deliveredEarly[id] = time }
            return
        }
        if times[purchase].delivered == 0 { finish(id, purchase, at: time) }
    }

    private func finish(_ id: Int, _ purchase: Int, at time: UInt64) {
        times[purchase].delivered = time
        waitingFinishes.append((id, purchase))
        sendFinishes()
    }

    private func sendFinishes() {
        while !idleFinishes.isEmpty, let (id, purchase) = waitingFinishes.next() {
            let connection = idleFinishes.removeFirst()
            let request = ByteBuffer(
                string: "POST \(Routes.transactions)/\(id)/finish HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                    + "authorization: Bearer \(tokens[account(of: purchase)])\r\n"
                    + "content-length: 0\r\n\r\n"
            )
            connection.send(request) { status, body in
                self.idleFinishes.append(connection)
                self.finished(id, purchase, status, body)
                self.sendFinishes()
            }
        }
    }

    private func finished(_ id: Int, _ purchase: Int, _ status: Int, _ body: ByteBuffer) {
        guard status == 200 else {
            guard status == 503 else {
                return fail("A finish was refused with \(status): \(String(buffer: body))")
            }
            retries += 1
            eventLoop.scheduleTask(in: .milliseconds(20)) {
                self.waitingFinishes.append((id, purchase))
                self.sendFinishes()
            }
            return
        }
        times[purchase].finished = Self.now()
        purchaseOfTransaction[id] = nil
        finishedCount += 1
        if finishedCount == load.purchases { return done.succeed() }
        if load.rate == nil { begin() }
    }
}

/// A first-in, first-out queue; taking an element costs the same whatever its length.
private struct Line<Element> {
    private var elements: [Element] = []
    private var first = 0

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func next() -> Element? {
        guard first < elements.count else { return nil }
        defer {
            first += 1
            if first == elements.count { (elements, first) = ([], 0) }
        }
        return elements[first]
    }
}

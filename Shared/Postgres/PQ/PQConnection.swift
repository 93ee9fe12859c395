import CLibpq

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One session with a PostgreSQL server; it owns the `PGconn` and finishes it at the end.
///
/// Only one thread uses the session at a time, that of its actor. The socket does not block. Every
/// wait is one poll(2) on the socket and the interrupter, with a deadline, so a server that stops
/// answering cannot hold the thread for ever.
final class PQConnection {
    /// The server's report about the session's database transaction.
    enum TransactionStatus {
        case idle
        case open
        case failed
        case unknown
    }

    let handle: OpaquePointer
    private let interrupter: Interrupter
    /// Whether the session has ended, for whatever reason.
    var isLost = false
    /// The deadline of the current use of the session, if it has one.
    var deadline: PostgresDeadline?
    /// The sent cancel request that might still affect a later statement.
    private var cancelRequest: CancelRequest?
    // These arrays are reused for every statement, so that binding allocates nothing.
    private var values: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    private init(handle: OpaquePointer, interrupter: Interrupter) {
        self.handle = handle
        self.interrupter = interrupter
    }

    deinit {
        PQfinish(handle)
    }

    /// Opens a session.
    ///
    /// - Parameters:
    ///   - parameters: libpq's keywords and values, in order; a later one wins.
    ///   - timeout: The longest time for the whole.
    ///   - interrupter: Can end the wait early.
    /// - Returns: The session, ready for statements.
    /// - Throws: ``PostgresError`` if it cannot be opened in time.
    static func open(
        parameters: [(keyword: String, value: String)],
        timeout: Duration,
        interrupter: Interrupter
    ) throws(PostgresError) -> PQConnection {
        var keywords: [UnsafePointer<CChar>?] = parameters.map { UnsafePointer(strdup($0.keyword)) }
        var values: [UnsafePointer<CChar>?] = parameters.map { UnsafePointer(strdup($0.value)) }
        keywords.append(nil)
        values.append(nil)
        defer {
            for pointer in keywords + values {
                free(UnsafeMutablePointer(mutating: pointer))
            }
        }
        guard let handle = PQconnectStartParams(keywords, values, 1) else {
            throw PostgresError(.connectFailed, "out of memory")
        }
        let connection = PQConnection(handle: handle, interrupter: interrupter)
        try connection.finishOpening(until: .now + timeout)
        return connection
    }

    /// Checks a connection URL without connecting.
    static func validate(url: String) throws(PostgresError) {
        var problem: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &problem) else {
            // libpq's text quotes the URL, which may contain a password.
            PQfreemem(problem)
            throw PostgresError(.configuration, "the connection URL cannot be read")
        }
        PQconninfoFree(options)
    }

    private func finishOpening(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        var polling = PGRES_POLLING_WRITING
        if PQstatus(handle) == CONNECTION_BAD {
            polling = PGRES_POLLING_FAILED
        }
        while polling != PGRES_POLLING_OK {
            guard polling != PGRES_POLLING_FAILED else {
                isLost = true
                throw PostgresError(.connectFailed, PQError.reason(of: handle))
            }
            let events = polling == PGRES_POLLING_READING ? POLLIN : POLLOUT
            switch wait(for: events, until: deadline, isInterruptible: true) {
            case .ready: break
            case .interrupted: throw PostgresError(.cancelled, "cancelled while connecting")
            case .timedOut: throw PostgresError(.connectFailed, "no connection within the timeout")
            }
            polling = PQconnectPoll(handle)
        }
        PQsetNoticeReceiver(handle, received, Unmanaged.passUnretained(self).toOpaque())
        PQsetnonblocking(handle, 1)
    }

    /// The socket to the server.
    var socket: Int32 { PQsocket(handle) }

    /// The server's latest report about the session's database transaction.
    var transactionStatus: TransactionStatus {
        switch PQtransactionStatus(handle) {
        case PQTRANS_IDLE: .idle
        case PQTRANS_INTRANS: .open
        case PQTRANS_INERROR: .failed
        default: .unknown
        }
    }

    /// Runs one or several statements by the simple-query protocol.
    ///
    /// - Returns: The answer to the last one.
    func simpleQuery(_ text: String, _ limits: PQLimits) throws(PostgresError) -> PQResult {
        try start(limits)
        let sent = PQsendQuery(handle, text)
        return try finish(sent, limits)
    }

    /// Prepares a statement under a name.
    func prepare(
        _ text: String,
        name: String,
        types: [UInt32],
        _ limits: PQLimits
    ) throws(PostgresError) {
        try start(limits)
        let sent = PQsendPrepare(handle, name, text, Int32(types.count), types)
        _ = try finish(sent, limits)
    }

    /// Runs a prepared statement with the parameters of `sql`, in binary form in both directions.
    func execute(
        _ sql: SQL,
        name: String,
        _ limits: PQLimits
    ) throws(PostgresError) -> PQResult {
        try start(limits)
        return try finish(send(sql, name: name), limits)
    }

    /// Hands a prepared statement with its parameters to libpq.
    ///
    /// - Returns: 1 if libpq has taken it.
    func send(_ sql: SQL, name: String) -> Int32 {
        sql.buffer.withUnsafeBufferPointer { buffer in
            values.removeAll(keepingCapacity: true)
            lengths.removeAll(keepingCapacity: true)
            formats.removeAll(keepingCapacity: true)
            for parameter in sql.parameters {
                formats.append(1)
                if let base = buffer.baseAddress, parameter.count >= 0 {
                    lengths.append(Int32(parameter.count))
                    values.append(
                        UnsafeRawPointer(base + parameter.offset)
                            .assumingMemoryBound(to: CChar.self)
                    )
                } else {
                    lengths.append(0)
                    values.append(nil)
                }
            }
            return PQsendQueryPrepared(
                handle,
                name,
                Int32(values.count),
                values,
                lengths,
                formats,
                1
            )
        }
    }

    /// Checks whether an idle session is still open, without sending anything to the server.
    ///
    /// A server that ends an idle session first says so, and closes the connection a little later.
    func checkIdle() -> Bool {
        while !isLost, wait(for: POLLIN, until: .now, isInterruptible: false) == .ready {
            if PQconsumeInput(handle) == 0 || PQstatus(handle) == CONNECTION_BAD {
                isLost = true
            }
            // This parses messages that have arrived, such as a changed parameter or the reason for
            // closing.
            _ = PQisBusy(handle)
        }
        return !isLost
    }

    /// Waits for notifications on the session's channels.
    ///
    /// - Returns: The notifications; empty at the timeout.
    func waitForNotifications(
        timeout: Duration
    ) throws(PostgresError) -> [(channel: String, payload: String)] {
        let deadline = ContinuousClock.now + timeout
        while true {
            var received: [(channel: String, payload: String)] = []
            while let notification = PQnotifies(handle) {
                received.append(
                    (
                        String(cString: notification.pointee.relname),
                        String(cString: notification.pointee.extra)
                    )
                )
                PQfreemem(notification)
            }
            guard received.isEmpty else { return received }
            switch wait(for: POLLIN, until: deadline, isInterruptible: true) {
            case .interrupted: throw PostgresError(.cancelled, "cancelled while listening")
            case .timedOut: return []
            case .ready:
                if PQconsumeInput(handle) == 0 {
                    throw lost()
                }
            }
        }
    }

    /// Makes sure that a cancel request of the ending turn cannot cancel a statement of the next
    /// one.
    ///
    /// It waits until the server has received the request, and runs a harmless statement for it to
    /// cancel.
    func settle() {
        guard let request = cancelRequest, !isLost else { return }
        let limits = PQLimits(timeout: .seconds(5), isInterruptible: false)
        guard request.waitUntilTold(until: end(of: limits) ?? .now) else {
            isLost = true
            return
        }
        do {
            _ = try simpleQuery("SELECT", limits)
        } catch {
            // The harmless statement was cancelled. If the session was lost, `isLost` says so.
        }
        cancelRequest = nil
    }

    // MARK: - One statement

    func start(_ limits: PQLimits) throws(PostgresError) {
        if isLost {
            throw PostgresError(.connectionLost, "the connection was lost before")
        }
        if limits.isInterruptible && interrupter.isRaised {
            throw PostgresError(.cancelled, "cancelled before the statement")
        }
    }

    /// Sends the data that libpq has queued, and reads the answer to its end.
    func finish(_ sent: Int32, _ limits: PQLimits) throws(PostgresError) -> PQResult {
        try requireSent(sent)
        var patience = patience(limits)
        try flush(patience)
        return try check(try read(&patience), patience)
    }

    /// Checks that libpq has taken a statement.
    func requireSent(_ sent: Int32) throws(PostgresError) {
        guard sent != 1 else { return }
        if PQstatus(handle) == CONNECTION_BAD {
            throw lost()
        }
        throw PostgresError(.server, "not sent: " + PQError.reason(of: handle))
    }

    /// The patience of a call with these limits, which begins now.
    func patience(_ limits: PQLimits) -> PQPatience {
        // An interruptible statement is cancelled a little before the end; ROLLBACK is not.
        PQPatience(
            end: end(of: limits),
            cancelTime: limits.isInterruptible ? deadline?.cancel : nil,
            isInterruptible: limits.isInterruptible
        )
    }

    /// Sends the data that libpq has queued.
    func flush(_ patience: PQPatience) throws(PostgresError) {
        // If it fails, the answer, or the lack of it, tells why.
        while PQflush(handle) > 0 {
            try makeRoom(until: patience.end)
        }
    }

    /// Reads the answer to one statement to its end.
    ///
    /// - Returns: The last result, or the first error among the results.
    func read(_ patience: inout PQPatience) throws(PostgresError) -> PQResult? {
        var answer: PQResult?
        while true {
            while PQisBusy(handle) == 1 {
                let moment = [patience.cancelTime, patience.end].compactMap { $0 }.min()
                switch wait(
                    for: POLLIN,
                    until: moment,
                    isInterruptible: patience.isInterruptible
                ) {
                case .ready:
                    if PQconsumeInput(handle) == 0 {
                        throw lost()
                    }
                case .interrupted:
                    cancelRequest = CancelRequest(handle)
                    let last = ContinuousClock.now + .seconds(5)
                    patience.cancel(until: deadline.map { min($0.end, last) } ?? last)
                case .timedOut:
                    guard let time = patience.cancelTime, time < patience.end ?? .now else {
                        throw lost("no answer within the timeout")
                    }
                    patience.isOverdue = true
                    cancelRequest = CancelRequest(handle)
                    patience.cancel(until: patience.end)
                }
            }
            guard let result = PQgetResult(handle).map(PQResult.init) else { return answer }
            if answer?.isError != true {
                answer = result
            }
            if result.isCopyIn || result.isCopyOut || result.isPipelineEnd { return answer }
        }
    }

    /// The latest time at which a call with these limits ends.
    func end(of limits: PQLimits) -> ContinuousClock.Instant? {
        let own = limits.timeout.map { ContinuousClock.now + $0 }
        guard let end = deadline?.end else { return own }
        return own.map { min($0, end) } ?? end
    }

    /// Returns an answer, or throws the error in it.
    func check(
        _ answer: PQResult?,
        _ patience: PQPatience
    ) throws(PostgresError) -> PQResult {
        guard let answer else { throw lost() }
        guard answer.isError else { return answer }
        if PQError.isFatal(answer) || PQstatus(handle) == CONNECTION_BAD {
            isLost = true
        }
        let error = PQError.error(in: answer, isCancelled: cancelRequest != nil)
        if patience.isOverdue, error.code == .cancelled {
            throw PostgresError(.statementTimeout, "cancelled: the request has waited long enough")
        }
        // Whatever ended the session, the server rolls back what was not committed.
        throw isLost && error.code == .server ? error.recoded(.connectionLost) : error
    }

    /// Waits until the socket can be written, and reads meanwhile, so that neither side waits for
    /// the other.
    func makeRoom(until deadline: ContinuousClock.Instant?) throws(PostgresError) {
        switch wait(for: POLLIN | POLLOUT, until: deadline, isInterruptible: false) {
        case .ready, .interrupted:
            if PQconsumeInput(handle) == 0 || PQflush(handle) < 0 {
                throw lost()
            }
        case .timedOut:
            throw lost("the server takes no more within the timeout")
        }
    }

    func lost(_ reason: String? = nil) -> PostgresError {
        isLost = true
        return PostgresError(.connectionLost, reason ?? PQError.reason(of: handle))
    }

    private func wait(
        for events: Int32,
        until deadline: ContinuousClock.Instant?,
        isInterruptible: Bool
    ) -> SocketWait {
        SocketWait(
            on: socket,
            for: events,
            until: deadline,
            orUntil: isInterruptible ? interrupter : nil
        )
    }
}

/// Receives what the server says to a session that has asked nothing.
///
/// A session that the server ends is lost. All other notices are ignored.
private func received(_ context: UnsafeMutableRawPointer?, _ notice: OpaquePointer?) {
    guard let notice, let context, PQError.isFatal(notice) else { return }
    Unmanaged<PQConnection>.fromOpaque(context).takeUnretainedValue().isLost = true
}

import CLibpq

/// Converts libpq's failures to ``PostgresError``, without text that may quote a value.
enum PQError {
    /// The error in a result.
    ///
    /// - Parameters:
    ///   - result: The result from libpq.
    ///   - isCancelled: Whether this client asked the server to cancel the statement.
    /// - Returns: The error, with the details from the server.
    static func error(in result: PQResult, isCancelled: Bool) -> PostgresError {
        func field(_ code: Int32) -> String? {
            PQresultErrorField(result.handle, code).map { String(cString: $0) }
        }
        let message = field(counterfoil_diag_message) ?? ""
        guard let sqlState = field(counterfoil_diag_sqlstate) else {
            // libpq made the result itself: the connection is lost or the protocol was violated.
            let reason = String(cString: PQresultErrorMessage(result.handle))
            return PostgresError(.connectionLost, firstLine(of: reason))
        }
        let code = code(
            sqlState: sqlState,
            message: message,
            function: field(counterfoil_diag_function),
            isCancelled: isCancelled
        )
        var text = mayQuoteValues(sqlState) ? "the server refuses a value" : message
        for (name, part) in [
            ("constraint", counterfoil_diag_constraint), ("table", counterfoil_diag_table),
            ("column", counterfoil_diag_column), ("at character", counterfoil_diag_position),
        ] {
            guard let value = field(part), !text.contains("\"\(value)\"") else { continue }
            text += ", \(name) \(value)"
        }
        return PostgresError(
            code,
            text,
            sqlState: sqlState,
            constraint: field(counterfoil_diag_constraint)
        )
    }

    /// Whether an error ends the session: its severity is FATAL or PANIC.
    static func isFatal(_ result: PQResult) -> Bool { isFatal(result.handle) }

    /// Whether libpq's result, which the caller may not keep, says that the session ends.
    static func isFatal(_ result: OpaquePointer) -> Bool {
        guard
            let severity = PQresultErrorField(result, counterfoil_diag_severity)
        else { return PQresultErrorField(result, counterfoil_diag_sqlstate) == nil }
        let text = String(cString: severity)
        return text == "FATAL" || text == "PANIC"
    }

    /// libpq's reason for the state of a connection.
    static func reason(of connection: OpaquePointer) -> String {
        firstLine(of: String(cString: PQerrorMessage(connection)))
    }

    /// Whether a message of the server may quote a value, and so must be left out.
    ///
    /// Messages of the listed classes name only tables, columns, constraints and settings. All
    /// others (22, data exceptions; P0, raised by functions; unknown ones) may quote a value.
    private static func mayQuoteValues(_ sqlState: String) -> Bool {
        let safe: Set<Substring> = [
            "08", "0A", "23", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57",
            "58", "XX",
        ]
        return !safe.contains(sqlState.prefix(2))
    }

    private static func code(
        sqlState: String,
        message: String,
        function: String?,
        isCancelled: Bool
    ) -> PostgresError.Code {
        switch sqlState {
        case "40001": return .serializationFailure
        case "40P01": return .deadlock
        case "23505": return .uniqueViolation
        case "23503": return .foreignKeyViolation
        case "23514": return .checkViolation
        case "23502": return .notNullViolation
        case "23P01": return .exclusionViolation
        case "42501": return .insufficientPrivilege
        case "55P03": return .lockTimeout
        case "25P02": return .transactionAborted
        case "25006": return .readOnly
        case "57014":
            // One SQLSTATE has two causes. The text distinguishes them unless it is translated.
            return !isCancelled && !message.contains("user request")
                ? .statementTimeout : .cancelled
        case "0A000" where function == "RevalidateCachedQuery": return .stalePlan
        case "26000": return .stalePlan
        case "57P01", "57P02", "57P03", "57P05", "25P03", "25P04": return .connectionLost
        default: break
        }
        switch sqlState.prefix(2) {
        case "08": return .connectionLost
        case "22": return .invalidData
        case "53": return .serverBusy
        default: return .server
        }
    }

    private static func firstLine(of text: String) -> String {
        text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no reason given"
    }
}

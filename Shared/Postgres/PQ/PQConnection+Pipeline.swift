import CLibpq

extension PQConnection {
    /// A statement of a pipeline.
    enum Step {
        /// A prepared statement with the parameters of `sql`.
        case prepared(SQL, name: String)
        /// A command without parameters.
        case command(String)
    }

    /// The answers to the statements of a pipeline.
    struct Answers {
        /// The answers to the statements before the one that failed, or to all.
        var results: [PQResult] = []
        /// The error of the statement that failed.
        ///
        /// The server has passed over all statements after it.
        var failure: PostgresError?
    }

    /// Sends statements together, and reads their answers: one round trip for any number of them.
    ///
    /// After a statement that fails the server runs none of the others.
    ///
    /// - Throws: ``PostgresError`` if nothing was sent.
    func run(_ steps: [Step], _ limits: PQLimits) throws(PostgresError) -> Answers {
        try start(limits)
        guard PQenterPipelineMode(handle) == 1 else { throw lost() }
        var patience = patience(limits)
        var answers = Answers()
        do throws(PostgresError) {
            for step in steps {
                try requireSent(send(step))
            }
            try requireSent(PQpipelineSync(handle))
            try flush(patience)
        } catch {
            // Some of the statements may be on their way.
            isLost = true
            return Answers(failure: error)
        }
        do throws(PostgresError) {
            for _ in steps {
                let answer = try check(try read(&patience), patience)
                guard !answer.isCopyIn, !answer.isCopyOut else {
                    // In a pipeline libpq cannot end a COPY, not even to refuse it.
                    isLost = true
                    throw PostgresError(.server, "COPY is for copy(into:); the session was closed")
                }
                answers.results.append(answer)
            }
        } catch {
            answers.failure = error
        }
        leavePipeline(after: &answers, of: steps.count, &patience)
        return answers
    }

    private func send(_ step: Step) -> Int32 {
        switch step {
        case .prepared(let sql, let name): send(sql, name: name)
        case .command(let text): PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 1)
        }
    }

    /// Reads what is left of the answers, so that the session is ready for the next statement.
    ///
    /// A session that does not get ready is lost.
    private func leavePipeline(
        after answers: inout Answers,
        of count: Int,
        _ patience: inout PQPatience
    ) {
        do throws(PostgresError) {
            var left = count - answers.results.count - (answers.failure == nil ? 0 : 1)
            while !isLost, left > 0 {
                _ = try read(&patience)
                left -= 1
            }
            guard !isLost else { return }
            guard try read(&patience)?.isPipelineEnd == true, PQexitPipelineMode(handle) == 1
            else { throw lost() }
        } catch {
            isLost = true
            answers.failure = answers.failure ?? error
        }
    }
}

import Foundation

/// A serial executor with one thread of its own, for actors whose work is blocking C calls.
///
/// An actor that uses this executor runs all of its jobs on that thread. A blocking call, such as a
/// query or a poll, therefore blocks only its own actor. A sequence of calls in one actor-isolated
/// function needs no thread hop in between.
///
/// The thread starts with ``init(name:)`` and ends after ``shutDown()``, once the jobs already
/// enqueued have run. A job enqueued after the thread has ended runs on the enqueuing thread, so
/// that no continuation is ever lost.
public final class ThreadExecutor: SerialExecutor {
    private let queue = JobQueue()

    /// Starts the thread.
    ///
    /// - Parameter name: The name shown by `ps -T` and debuggers.
    public init(name: String) {
        let queue = self.queue
        let thread = Thread {
            queue.run()
        }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Runs a job of an actor on the thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        if !queue.append(job, executor) {
            job.runSynchronously(on: executor)
        }
    }

    /// The reference that an actor returns as its `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Lets the thread end after the jobs that are already enqueued.
    ///
    /// Safe to call twice.
    public func shutDown() {
        queue.close()
    }
}

/// The jobs that wait for the thread.
///
/// The thread waits on the condition; a `Mutex` cannot be waited on.
private final class JobQueue: @unchecked Sendable {  // `condition` guards every variable.
    private let condition = NSCondition()
    private var jobs: [(UnownedJob, UnownedSerialExecutor)] = []
    private var isClosed = false
    private var hasEnded = false

    func append(_ job: UnownedJob, _ executor: UnownedSerialExecutor) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !hasEnded else { return false }
        jobs.append((job, executor))
        if jobs.count == 1 {
            condition.signal()
        }
        return true
    }

    func close() {
        condition.lock()
        isClosed = true
        condition.signal()
        condition.unlock()
    }

    func run() {
        while let batch = next() {
            for (job, executor) in batch {
                job.runSynchronously(on: executor)
            }
        }
    }

    private func next() -> [(UnownedJob, UnownedSerialExecutor)]? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty && !isClosed {
            condition.wait()
        }
        if jobs.isEmpty {
            hasEnded = true
            return nil
        }
        defer { jobs.removeAll(keepingCapacity: true) }
        return jobs
    }
}

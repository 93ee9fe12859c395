/// Starts a broker for a test and stops it afterwards, even if the test throws.
public func withTestBroker<Result>(
    _ body: (TestBroker) async throws -> Result
) async throws -> Result {
    let broker = try await TestBroker.start()
    do {
        let result = try await body(broker)
        await broker.kill()
        return result
    } catch {
        await broker.kill()
        throw error
    }
}

import NIOHTTP1

/// Whether the error is of the HTTP parser, which ends the connection by itself.
func isParserError(_ error: any Error) -> Bool {
    error is HTTPParserError
}

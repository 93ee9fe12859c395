import NIOHTTP1

/// Whether the error comes from the HTTP parser, which closes the connection itself.
func isParserError(_ error: any Error) -> Bool {
    error is HTTPParserError
}

extension OperatorError {
    /// An answer of `catalog` that is not what it should be.
    package static func strangeAnswer(_ expected: String) -> OperatorError {
        OperatorError(
            .failed,
            """
            catalog sent an answer that is not \(expected). Check that COUNTERFOIL_CATALOG_URL or \
            --catalog-url is the address of catalog itself.
            """
        )
    }
}

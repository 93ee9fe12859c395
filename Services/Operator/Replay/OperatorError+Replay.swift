import OperatorCore

extension OperatorError {
    /// A selection that no event fits.
    static let nothingSelected = OperatorError(
        .failed,
        """
        No event is selected. Check --account, --transaction, --event, --topic and --type, and widen \
        --since and --until.
        """
    )
}

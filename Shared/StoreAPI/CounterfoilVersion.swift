/// The version of this package, written here and nowhere else.
///
/// Services and the operator's command line print it with `--version`, services tell it in
/// `/health/live` and in their logs, and a test holds the newest release of `CHANGELOG.md` and the
/// names of the images to it.
public enum CounterfoilVersion {
    /// The version, as in `0.1.0`.
    public static let current = "0.1.0"
}

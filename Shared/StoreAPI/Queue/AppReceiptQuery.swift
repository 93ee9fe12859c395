/// What an app may ask of its receipt (``Routes/appReceipt``): the names of the query's parameters.
public enum AppReceiptQuery {
    /// A UUID: the device that the receipt is bound to by its hash.
    public static let device = "device"
    /// The app's version, 1 to 64 visible ASCII characters.
    public static let applicationVersion = "applicationVersion"
    /// `true` in a sandbox: a receipt that has expired, for tests.
    public static let expired = "expired"
    /// `true` in a sandbox: a receipt of which every purchase was revoked, for tests.
    public static let revoked = "revoked"
    /// `true` in a sandbox: a receipt of an app that was bought in volume, for tests.
    public static let volumePurchase = "vpp"
}

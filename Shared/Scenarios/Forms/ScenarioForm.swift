/// The form of a value in a scenario file.
///
/// The reader checks files with it, and the JSON schema for editors is made of it.
indirect enum ScenarioForm: Sendable {
    /// Any text.
    case text
    /// A name of letters, digits, hyphens and underscores.
    case name
    /// A whole number within bounds.
    case whole(ClosedRange<Int>)
    /// `true` or `false`.
    case flag
    /// An amount with its currency: `0.99 USD`.
    case money
    /// A span of time: `31d`, `1h30m`.
    case span
    /// The length of a subscription's period: `1 month`, `P1M`.
    case period
    /// The way in which the store's clock goes: `frozen`, `real` or a rate such as `1h=1d`.
    case clock
    /// A storefront: `USA`.
    case storefront
    /// One of some words.
    case choice([String])
    /// Any number of values.
    case list(ScenarioForm)
    /// Values by names that the file chooses.
    case named(ScenarioForm)
    /// Members with known names.
    case fields([Field])
    /// Members of which exactly one says what the whole is.
    case oneOf([Alternative])
    /// A list of steps.
    ///
    /// A step may hold steps, so the form refers to itself by this name.
    case steps

    /// A member with a known name.
    struct Field: Sendable {
        let name: String
        let form: ScenarioForm
        let isRequired: Bool
        /// A sentence for the schema.
        let help: String

        init(_ name: String, _ form: ScenarioForm, isRequired: Bool = false, _ help: String) {
            self.name = name
            self.form = form
            self.isRequired = isRequired
            self.help = help
        }
    }

    /// A member that says what the whole is, and the members that may stand beside it.
    struct Alternative: Sendable {
        let verb: Field
        let others: [Field]

        init(_ verb: String, _ form: ScenarioForm, _ help: String, _ others: [Field] = []) {
            self.verb = Field(verb, form, isRequired: true, help)
            self.others = others
        }
    }
}

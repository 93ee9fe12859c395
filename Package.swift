// swift-tools-version: 6.2
import PackageDescription

/// One set of compiler settings for every target of the house: strict, and warnings are errors.
let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

// The products other people's code names, by the package they come from.
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics = server("Metrics", of: "swift-metrics")
let coreMetrics = server("CoreMetrics", of: "swift-metrics")
let unixSignals = server("UnixSignals", of: "swift-service-lifecycle")
let serviceLifecycle = server("ServiceLifecycle", of: "swift-service-lifecycle")
let configuration = server("Configuration", of: "swift-configuration")
let hummingbird = server("Hummingbird", of: "hummingbird")
let httpTypes = server("HTTPTypes", of: "swift-http-types")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let jwtKit = server("JWTKit", of: "jwt-kit")
let tracing = server("Tracing", of: "swift-distributed-tracing")
let asyncHTTPClient: Target.Dependency = .product(
    name: "AsyncHTTPClient",
    package: "async-http-client"
)
let argumentParser = server("ArgumentParser", of: "swift-argument-parser")
let yams = server("Yams", of: "Yams")
let subprocess = server("Subprocess", of: "swift-subprocess")
let systemPackage = server("SystemPackage", of: "swift-system")

/// The dependencies of every service.
let serviceFoundation: [Target.Dependency] = [
    "ServiceFoundation", "ServiceKit", "Messaging", "Postgres", "Rebuild", "StoreAPI", "EventTypes",
    "StoreTracing", hummingbird, httpTypes, nioCore, logging, serviceLifecycle,
]

/// The dependencies of the tests of every service.
let serviceTests: [Target.Dependency] = [
    "ContractSupport", "TestSupport", "ServiceKit", "Messaging", "Postgres", "Rebuild", "StoreAPI",
    "EventTypes", "ClockAndIDs", logging,
]

let package = Package(
    name: "counterfoil",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "catalog", targets: ["Catalog"]),
        .executable(name: "payments", targets: ["Payments"]),
        .executable(name: "receipts", targets: ["Receipts"]),
        .executable(name: "fulfillment", targets: ["Fulfillment"]),
        .executable(name: "console", targets: ["Console"]),
        .executable(name: "counterfoil", targets: ["Operator"]),
        .library(name: "EventTypes", targets: ["EventTypes"]),
        .library(name: "StoreAPI", targets: ["StoreAPI"]),
        .library(name: "Kafka", targets: ["Kafka"]),
        .library(name: "Postgres", targets: ["Postgres"]),
        .library(name: "Ledger", targets: ["Ledger"]),
        .library(name: "Messaging", targets: ["Messaging"]),
        .library(name: "ServiceKit", targets: ["ServiceKit"]),
        .library(name: "PaymentQueue", targets: ["PaymentQueue"]),
        .library(name: "StoreTest", targets: ["StoreTest"]),
        .library(name: "ReceiptValidation", targets: ["ReceiptValidation"]),
    ],
    traits: [
        .trait(
            name: "Server",
            description: "The services, their libraries and the tools. An app needs none of it."
        ),
        .default(enabledTraits: ["Server"]),
    ],
    // Ranges, so that an app resolves this beside packages of its own. Package.versions has the versions
    // that were tested, and `make setup` pins them.
    dependencies: [
        // HTTP server of the services.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        // HTTP client: webhooks, the operator's command line, tests.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        // Start order, signals and graceful shutdown.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Settings from the environment.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        // What tracers have in common: the store's own is one, and a user's may take its place.
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        // TLS with a store's own authority; comes with the HTTP client, and is named here for its types.
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        // ES256 signatures and SHA-256.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // The certificate chain that receipts are signed with. One test takes its @_spi(CMS), which a
        // newer version may change; the pin protects the test, and apps are not held to it.
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        // The tokens that the command line signs; tests sign theirs with it as well.
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        // Command lines.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Scenario files, with the line of every value in them.
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        // Child processes of the command line; SystemPackage is named for the type of a path.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/apple/swift-system.git", from: "1.8.1"),
    ],
    targets: [
        // A target depends only on targets of lower layers (ARCHITECTURE.md, Layers).
        //
        // Layer 0: C, in exactly these two folders, and the one thread that blocking C calls run on.
        // `make setup` builds a librdkafka, as no system's own is fit; the Makefile's PKG_CONFIG_PATH
        // finds it first.
        .systemLibrary(name: "CLibrdkafka", path: "Shared/CLibrdkafka", pkgConfig: "rdkafka"),
        .systemLibrary(name: "CLibpq", path: "Shared/CLibpq", pkgConfig: "libpq"),
        .target(name: "ThreadExecutor", path: "Shared/ThreadExecutor", swiftSettings: house),

        // Layer 1: one thing each, none knows another.
        .target(name: "EventTypes", path: "Shared/EventTypes", swiftSettings: house),
        .target(
            name: "StoreTracing",
            dependencies: [tracing],
            path: "Shared/StoreTracing",
            swiftSettings: house
        ),
        .target(
            name: "Kafka",
            dependencies: ["CLibrdkafka", "ThreadExecutor", logging, serviceLifecycle],
            path: "Shared/Kafka",
            swiftSettings: house
        ),
        .target(
            name: "Postgres",
            dependencies: ["CLibpq", "ThreadExecutor", logging, metrics, serviceLifecycle],
            path: "Shared/Postgres",
            swiftSettings: house
        ),

        // Layer 2: values, contracts and proofs over layer 1.
        // What `EventTypes` does not do: read the clock, and draw ids.
        .target(
            name: "ClockAndIDs",
            dependencies: ["EventTypes"],
            path: "Shared/ClockAndIDs",
            swiftSettings: house
        ),
        .target(
            name: "StoreAPI",
            dependencies: ["EventTypes"],
            path: "Shared/StoreAPI",
            swiftSettings: house
        ),
        // What the services promise over HTTP and on topics, as documents that they hold and serve.
        .target(
            name: "Contracts",
            dependencies: ["EventTypes"],
            path: "Shared/Contracts",
            resources: [
                .embedInCode("OpenAPI"), .embedInCode("AsyncAPI"), .embedInCode("Schemas"),
            ],
            swiftSettings: house
        ),
        // Whether to believe what a store signed; no network, no clock.
        .target(
            name: "ReceiptValidation",
            dependencies: ["EventTypes", crypto, x509, asn1],
            path: "Shared/ReceiptValidation",
            swiftSettings: house
        ),
        // What happens to subscriptions that renew: values in, decisions out; no I/O, no clock.
        .target(
            name: "Subscriptions",
            dependencies: ["EventTypes"],
            path: "Shared/Subscriptions",
            swiftSettings: house
        ),
        // What makes a change of an insert-only table show.
        .target(
            name: "Seals",
            dependencies: ["EventTypes", "Postgres", crypto],
            path: "Shared/Seals",
            swiftSettings: house
        ),

        // Layer 3: what every service does the same.
        .target(
            name: "Ledger",
            dependencies: ["ClockAndIDs", "EventTypes", "Postgres", "Seals"],
            path: "Shared/Ledger",
            resources: [.embedInCode("Migrations")],
            swiftSettings: house
        ),
        .target(
            name: "Messaging",
            dependencies: [
                "ClockAndIDs", "EventTypes", "Kafka", "Postgres", "Seals", "StoreTracing", logging,
                metrics, serviceLifecycle,
            ],
            path: "Shared/Messaging",
            resources: [.embedInCode("Migrations")],
            swiftSettings: house
        ),
        .target(
            name: "ServiceKit",
            dependencies: [
                "ClockAndIDs", "Contracts", "EventTypes", "Postgres", "StoreAPI", "StoreTracing",
                hummingbird, httpTypes, nioCore, nioHTTP1, logging, metrics, coreMetrics,
                serviceLifecycle, tracing, unixSignals, configuration, crypto,
                asyncHTTPClient,
            ],
            path: "Shared/ServiceKit",
            swiftSettings: house
        ),

        // Layer 4: what only some services need.
        .target(
            name: "Callbacks",
            dependencies: [
                "Messaging", asyncHTTPClient, nioCore, nioHTTP1, logging, serviceLifecycle,
            ],
            path: "Shared/Callbacks",
            swiftSettings: house
        ),
        // The wire to Stripe: requests, answers, signatures and pace. It knows no table and no topic.
        .target(
            name: "Stripe",
            dependencies: [
                "EventTypes", asyncHTTPClient, nioCore, nioHTTP1, crypto, logging,
            ],
            path: "Services/Stripe",
            exclude: ["README.md"],
            swiftSettings: house
        ),
        // Months of the event log that are in files; no service needs it while it runs.
        .target(
            name: "EventArchive",
            dependencies: [
                "EventTypes", "Messaging", "Postgres", "Seals", "StoreTracing", crypto,
            ],
            path: "Shared/EventArchive",
            swiftSettings: house
        ),

        // Layer 5: the proof.
        // The books of a service made again from the event log, and compared.
        .target(
            name: "Rebuild",
            dependencies: [
                "EventArchive", "EventTypes", "Messaging", "Postgres", "Seals", logging,
            ],
            path: "Shared/Rebuild",
            swiftSettings: house
        ),

        // Layer 6: what the operator's command line and console do; they share it in this package only.
        .target(
            name: "OperatorCore",
            dependencies: [
                "Callbacks", "ClockAndIDs", "EventArchive", "EventTypes", "Kafka", "Ledger",
                "Messaging", "Postgres", "Rebuild", "Seals", "StoreAPI", "StoreTracing",
                "Subscriptions", asyncHTTPClient, nioCore, nioHTTP1, logging, subprocess,
                systemPackage,
            ],
            path: "Services/OperatorCore",
            swiftSettings: house
        ),

        // Layer 6: the parts that all services have and make the same way.
        .target(
            name: "ServiceFoundation",
            dependencies: [
                "Contracts", "EventTypes", "Kafka", "Messaging", "Postgres", "Rebuild",
                "ServiceKit", "StoreTracing", logging, serviceLifecycle,
            ],
            path: "Shared/ServiceFoundation",
            swiftSettings: house
        ),

        // Layer 7: what an app uses; it knows the store's HTTP interface and nothing behind it.
        .target(
            name: "PaymentQueue",
            dependencies: [
                "EventTypes", "StoreAPI", "ReceiptValidation", "ThreadExecutor", asyncHTTPClient,
                nioCore, nioPosix, nioHTTP1, nioSSL, crypto, logging,
            ],
            path: "Shared/PaymentQueue",
            swiftSettings: house
        ),

        // Layer 7: the services.
        .executableTarget(
            name: "Catalog",
            dependencies: serviceFoundation + ["Stripe", crypto],
            path: "Services/Catalog",
            exclude: ["README.md"],
            resources: [.embedInCode("Migrations")],
            swiftSettings: house
        ),
        .executableTarget(
            name: "Payments",
            dependencies: serviceFoundation + [
                "ClockAndIDs", "Ledger", "Stripe", "Subscriptions", crypto, metrics,
            ],
            path: "Services/Payments",
            exclude: ["README.md"],
            resources: [.embedInCode("Migrations")],
            swiftSettings: house
        ),
        .executableTarget(
            name: "Receipts",
            dependencies: serviceFoundation + [
                "Callbacks", "ClockAndIDs", "ReceiptValidation", "Subscriptions", crypto, x509,
                asn1, asyncHTTPClient, nioHTTP1, metrics,
            ],
            path: "Services/Receipts",
            exclude: ["README.md"],
            resources: [.embedInCode("Migrations")],
            swiftSettings: house
        ),
        .executableTarget(
            name: "Fulfillment",
            dependencies: serviceFoundation + [
                "Callbacks", "ClockAndIDs", crypto, asyncHTTPClient, nioHTTP1, nioPosix, metrics,
            ],
            path: "Services/Fulfillment",
            exclude: ["README.md"],
            resources: [.embedInCode("Migrations")],
            swiftSettings: house
        ),

        // Layer 7: the operator's pages for a browser.
        .executableTarget(
            name: "Console",
            dependencies: [
                "ClockAndIDs", "EventTypes", "Kafka", "OperatorCore", "Rebuild", "Seals",
                "ServiceKit", "StoreAPI", "StoreTracing", "Subscriptions", crypto, hummingbird,
                httpTypes, nioCore, nioHTTP1, logging, serviceLifecycle,
            ],
            path: "Services/Console",
            exclude: ["README.md"],
            resources: [.embedInCode("Assets")],
            swiftSettings: house
        ),

        // Layer 8: stories that a store must tell, read from files.
        .target(
            name: "Scenarios",
            dependencies: [
                "EventTypes", "PaymentQueue", "ReceiptValidation", "StoreAPI", asyncHTTPClient,
                nioCore, nioHTTP1, logging, yams,
            ],
            path: "Shared/Scenarios",
            swiftSettings: house
        ),

        // Layer 8: what the tests of an app ask of a sandbox, as Xcode's StoreKitTest does.
        .target(
            name: "StoreTest",
            dependencies: [
                "ClockAndIDs", "EventTypes", "PaymentQueue", "ReceiptValidation", "StoreAPI",
                asyncHTTPClient, crypto, nioCore, nioHTTP1,
            ],
            path: "Shared/StoreTest",
            swiftSettings: house
        ),

        // Layer 9: the operator's command line.
        .executableTarget(
            name: "Operator",
            dependencies: [
                "Callbacks", "ClockAndIDs", "EventArchive", "EventTypes", "StoreAPI", "Postgres",
                "Kafka", "Ledger", "Messaging", "OperatorCore", "PaymentQueue", "Rebuild",
                "ReceiptValidation", "Scenarios",
                "Seals", "StoreTest", "StoreTracing", "Subscriptions", argumentParser,
                jwtKit, subprocess, systemPackage,
                asyncHTTPClient, crypto, x509, asn1, nioCore, nioHTTP1, logging,
            ],
            path: "Services/Operator",
            exclude: ["README.md"],
            swiftSettings: house
        ),
    ]
        + storefront()
        + beside([
            // What `make run`, `make demo`, `make chaos`, `make bench` and the tests start the real
            // thing with: the store's processes, its databases and broker, and clients for it.
            .target(
                name: "StoreHarness",
                dependencies: [
                    "ClockAndIDs", "EventTypes", "StoreAPI", "StripeStandIn", "Kafka", "Postgres",
                    "ThreadExecutor", asyncHTTPClient, crypto, x509, asn1, logging, nioCore,
                    nioPosix, nioHTTP1,
                    nioSSL,
                ],
                path: "Tools/StoreHarness",
                swiftSettings: house
            ),
            // A processor to try and to test against, which behaves as Stripe documents.
            .target(
                name: "StripeStandIn",
                dependencies: [
                    asyncHTTPClient, crypto, hummingbird, httpTypes, logging, nioCore, nioHTTP1,
                ],
                path: "Tools/StripeStandIn",
                exclude: ["README.md"],
                swiftSettings: house
            ),
            // What people run, measure and damage a store with. No products: an executable target
            // of the root package is built under its own name, and nobody else gets it.
            .executableTarget(
                name: "devstore",
                dependencies: [
                    "StoreHarness", "ClockAndIDs", "EventTypes", "StoreAPI", "PaymentQueue",
                    "Scenarios", "StripeStandIn", "Kafka", "Postgres", argumentParser, logging,
                    nioCore, nioPosix,
                    nioHTTP1,
                ],
                path: "Tools/DevStore",
                swiftSettings: house
            ),
            // The sample app's sources, so that the tests can run it as they run the services; it has
            // a manifest of its own for its users.
            .executableTarget(
                name: "shop",
                dependencies: ["PaymentQueue", "ReceiptValidation", argumentParser],
                path: "Examples/Shop/Sources/Shop",
                swiftSettings: house
            ),
            // What only tests need beside the harness, which it passes on to them.
            .target(
                name: "TestSupport",
                dependencies: ["StoreHarness", "EventTypes", "Ledger", "Postgres", logging],
                path: "Tests/TestSupport",
                swiftSettings: house
            ),
            // What the tests of all services hold their routes against.
            .target(
                name: "ContractSupport",
                dependencies: [
                    "Contracts", "EventTypes", "ServiceKit", "StoreAPI", "TestSupport", logging,
                ],
                path: "Tests/ContractSupport",
                swiftSettings: house
            ),
        ])
        + tests(of: "EventTypes", ["ClockAndIDs", "EventTypes"])
        + tests(of: "StoreTracing", ["StoreTracing", tracing])
        + tests(of: "Subscriptions", ["EventTypes", "Subscriptions"])
        + tests(of: "StoreAPI", ["EventTypes", "StoreAPI"])
        + tests(of: "Contracts", ["Contracts", "EventTypes", "TestSupport"])
        + tests(of: "Kafka", ["Kafka", "TestSupport", logging])
        + tests(of: "Postgres", ["Postgres", "TestSupport", logging])
        + tests(
            of: "Ledger",
            ["EventTypes", "Ledger", "Messaging", "Postgres", "Seals", "TestSupport", logging]
        )
        + tests(
            of: "Messaging",
            [
                "ClockAndIDs", "EventArchive", "EventTypes", "Kafka", "Messaging", "Postgres",
                "Seals", "StoreTracing", "TestSupport", logging, serviceLifecycle,
            ]
        )
        + tests(of: "Rebuild", ["Rebuild"])
        + tests(
            of: "Stripe",
            [
                "ClockAndIDs", "EventTypes", "Stripe", "StripeStandIn", "TestSupport",
                asyncHTTPClient,
                hummingbird,
                httpTypes, logging, nioCore, nioHTTP1,
            ]
        )
        + tests(
            of: "DevStore",
            ["devstore", "EventTypes", "StoreAPI", "StoreHarness", "StripeStandIn"]
        )
        + tests(
            of: "ServiceKit",
            [
                "ClockAndIDs", "Contracts", "ServiceKit", "EventTypes", "Postgres", "StoreAPI",
                "StoreTracing",
                hummingbird, httpTypes, logging, coreMetrics, jwtKit, crypto, configuration,
                serviceLifecycle, nioCore, nioPosix,
                server("HummingbirdTesting", of: "hummingbird"),
            ]
        )
        + tests(
            of: "Catalog",
            serviceTests + [
                "Catalog", "Kafka", "Seals", "ServiceFoundation", nioHTTP1, serviceLifecycle,
            ]
        )
        + tests(
            of: "Payments",
            serviceTests + [
                "Payments", "Ledger", "Seals", "ServiceFoundation", "StoreTracing", "Stripe",
                "StripeStandIn", "Subscriptions", asyncHTTPClient, nioCore, nioHTTP1,
            ]
        )
        + tests(
            of: "Receipts",
            serviceTests + [
                "Callbacks", "Receipts", "ReceiptValidation", "StoreTracing", hummingbird,
                httpTypes, crypto, x509, asn1, server("HummingbirdTesting", of: "hummingbird"),
            ]
        )
        + tests(
            of: "Fulfillment",
            serviceTests + [
                "Callbacks", "Fulfillment", "OperatorCore", "Seals", "StoreTracing",
                asyncHTTPClient, hummingbird, httpTypes, crypto, nioCore, nioHTTP1,
                serviceLifecycle,
            ]
        )
        + tests(
            of: "PaymentQueue",
            [
                "EventTypes", "StoreAPI", "PaymentQueue", "ReceiptValidation", "TestSupport",
                asyncHTTPClient, crypto, logging, nioCore, nioHTTP1,
            ]
        )
        + tests(of: "Scenarios", ["EventTypes", "Scenarios", "StoreAPI"])
        + tests(
            of: "Storefront",
            [
                "ReceiptValidation", "storefront", hummingbird, httpTypes, logging,
                argumentParser, asyncHTTPClient, crypto, nioCore, x509, asn1,
                server("HummingbirdTesting", of: "hummingbird"),
            ]
        )
        + tests(of: "ReceiptValidation", ["EventTypes", "ReceiptValidation", crypto, x509, asn1])
        + tests(of: "StoreTest", ["EventTypes", "StoreAPI", "StoreTest"])
        + tests(
            of: "EndToEnd",
            [
                "ClockAndIDs", "EventTypes", "ReceiptValidation", "StoreAPI", "PaymentQueue",
                "StoreTest", "StripeStandIn",
                "Kafka", "Messaging", "Postgres", "StoreTracing", "TestSupport",
                asyncHTTPClient,
                crypto, nioCore, nioHTTP1, logging,
            ]
        )
        + tests(
            of: "Operator",
            [
                "Callbacks", "ClockAndIDs", "EventArchive", "EventTypes", "StoreAPI", "Operator",
                "OperatorCore", "Rebuild", "ReceiptValidation", "Postgres", "Kafka", "Messaging",
                "Seals",
                "StoreTracing", "Subscriptions", "TestSupport",
                argumentParser, asyncHTTPClient, crypto, x509, asn1,
            ]
        )
        + tests(
            of: "Console",
            [
                "ClockAndIDs", "Console", "EventTypes", "OperatorCore", "Seals", "ServiceKit",
                "StoreAPI", "TestSupport", hummingbird, httpTypes, logging, jwtKit, crypto, nioCore,
                serviceLifecycle, server("HummingbirdTesting", of: "hummingbird"),
            ]
        )
        + tests(of: "Tidy", ["EventTypes"]),
    swiftLanguageModes: [.v6]
)

/// A product that only the services, their libraries and the tools link.
///
/// Where the trait `Server` is off, as in an app, its package is not fetched.
func server(_ product: String, of package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Server"]))
}

/// Tools, examples and tests: everything that stands beside services and libraries.
///
/// `deploy/Dockerfile` copies none of it but the storefront, and says so.
func beside(_ targets: [Target]) -> [Target] {
    Context.environment["COUNTERFOIL_SERVICES_ONLY"] == nil ? targets : []
}

/// A merchant's server, which has a manifest of its own for its users.
///
/// `make run` starts it beside the store. One image of `deploy/Dockerfile` has it.
func storefront() -> [Target] {
    let target = Target.executableTarget(
        name: "storefront",
        dependencies: [
            "ReceiptValidation", hummingbird, httpTypes, serviceLifecycle, asyncHTTPClient,
            jwtKit, crypto, logging, nioCore, nioHTTP1, argumentParser,
        ],
        path: "Examples/Storefront/Sources/Storefront",
        swiftSettings: house
    )
    return Context.environment["COUNTERFOIL_STOREFRONT"] == nil ? beside([target]) : [target]
}

/// The test target of a module, in the folder of its name.
func tests(of name: String, _ dependencies: [Target.Dependency]) -> [Target] {
    beside([
        .testTarget(
            name: name + "Tests",
            dependencies: dependencies,
            path: "Tests/\(name)Tests",
            swiftSettings: house
        )
    ])
}

// swift-tools-version: 6.2
import PackageDescription

/// For what could move to the library: its own settings.
let settings: [SwiftSetting] = [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
    name: "examples",
    products: [
        .library(name: "EchoLibrary", type: .dynamic, targets: ["EchoLibrary"]),
        .library(name: "TLSLibrary", type: .dynamic, targets: ["TLSLibrary"]),
    ],
    dependencies: [
        .package(name: "swift-uv-futures", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .systemLibrary(name: "CMalloc"),
        .target(
            name: "HTTP1", dependencies: [.product(name: "ByteStreams", package: "swift-uv-futures")],
            swiftSettings: settings),
        .target(
            name: "WebSockets",
            dependencies: ["HTTP1", .product(name: "ByteStreams", package: "swift-uv-futures")],
            swiftSettings: settings),
        .executableTarget(
            name: "WebServer",
            dependencies: [
                "ExampleSupport", "ServerSupport",
                "CMalloc", "HTTP1", "WebSockets",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "TLSStreams", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: [.embedInCode("page.html")]),
        .testTarget(name: "HTTP1Tests", dependencies: ["HTTP1"], exclude: ["Corpus"]),
        .testTarget(
            name: "WebSocketsTests",
            dependencies: [
                "WebSockets", "HTTP1", .product(name: "FuturesTesting", package: "swift-uv-futures"),
            ]),
        .target(
            name: "ExampleSupport",
            dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")]),
        .target(
            name: "ServerSupport",
            dependencies: [
                "ExampleSupport",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "TLSStreams", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "EchoServer",
            dependencies: [
                "ExampleSupport",
                "CMalloc",
                "ServerSupport",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "TLSStreams", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "PortForwarder",
            dependencies: [
                "ExampleSupport",
                "ServerSupport",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "TLSStreams", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "Lookup",
            dependencies: [
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "Heartbeat",
            dependencies: [
                "ExampleSupport",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "Replica",
            dependencies: [
                "ExampleSupport",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .target(
            name: "RESP", dependencies: [.product(name: "ByteStreams", package: "swift-uv-futures")]),
        .executableTarget(
            name: "KeyValueServer",
            dependencies: [
                "ExampleSupport", "ServerSupport", "CMalloc",
                "RESP",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "TLSStreams", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .target(
            name: "Chat",
            dependencies: ["RESP", .product(name: "UVFutures", package: "swift-uv-futures")]),
        .executableTarget(
            name: "ChatServer",
            dependencies: [
                "Chat", "ExampleSupport", "HTTP1", "ServerSupport", "WebSockets",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "TLSStreams", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: [.embedInCode("page.html")]),
        .testTarget(
            name: "ChatTests",
            dependencies: [
                "Chat", "RESP", .product(name: "FuturesTesting", package: "swift-uv-futures"),
            ]),
        .executableTarget(
            name: "Supervisor",
            dependencies: [
                "ExampleSupport",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "HealthChecker",
            dependencies: [
                "ExampleSupport", "HTTP1",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "TLSStreams", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "Observed",
            dependencies: [
                "ExampleSupport",
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "EchoServer", "HealthChecker", "Heartbeat", "KeyValueServer", "Lookup", "PortForwarder",
                "RESP", "Replica", "ServerSupport", "Supervisor",
                .product(name: "FuturesTesting", package: "swift-uv-futures"),
            ]),
        .target(
            name: "EchoLibrary", dependencies: [.product(name: "UVFutures", package: "swift-uv-futures")]),
        .target(
            name: "TLSLibrary",
            dependencies: [
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "TLSStreams", package: "swift-uv-futures"),
            ]),
        .executableTarget(
            name: "CHost", dependencies: ["EchoLibrary"], linkerSettings: [.linkedLibrary("uv")]),
    ]
)
